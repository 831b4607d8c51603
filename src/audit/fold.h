/* fold: repeated identical events as one record with their exact number.
 *
 * The first of its kind goes into the trace at once; those that follow within the window are counted, and at
 * its end come out as one event with count, first_us and last_us. Counts add up: each event is either
 * recorded by itself or in exactly one count. Identical means that the record would say the same but for
 * when, which process of the same image and user it was, and a size. What is folded carries no pid, arguments
 * or ancestry, since those differ among what it counts.
 *
 * Never folded: events with traffic counters (their sum would be no connection's), pauses and kills, and all
 * kinds whose payload is not a struct. Refusals only where that was asked for. Time is monotonic, and comes
 * from the caller; memory is bounded: what finds no room is recorded by itself. */
#pragma once

#include "model/event.h"

struct st_fold_options {
    int64_t window_ns; /* 0: nothing is folded */
    size_t entries;    /* kinds that are remembered at once; 0: ST_FOLD_ENTRIES */
    bool refusals;     /* repeated refusals are folded as well */
};

#define ST_FOLD_ENTRIES 256

struct st_fold;

struct st_fold *st_fold_new(const struct st_fold_options *o);
void st_fold_free(struct st_fold *f); /* drop everything first: what is still in it is lost */

/* true: counted. false: record it now. v NULL: allowed. */
bool st_fold_add(struct st_fold *f, const struct st_event *ev, const struct st_verdict *v, int64_t now_ns);

/* The next event whose window has ended (now_ns INT64_MAX: any). false: none. It stays in f, and is counted
 * on, until it is dropped. */
bool st_fold_peek(struct st_fold *f, int64_t now_ns, const struct st_event **ev, const struct st_verdict **v);

/* What was peeked last is in the trace. */
void st_fold_drop(struct st_fold *f);

/* When there will be one to peek; -1: none waits. */
int64_t st_fold_deadline(const struct st_fold *f);

/* Events that are counted and not dropped yet. */
uint64_t st_fold_pending(const struct st_fold *f);
