/* rows: events into the database, a batch in a transaction. What is in a batch is there whole, with how far
 * its trace was read, or not at all: whoever is killed goes on exactly there. */
#pragma once

#include "desk/db.h"
#include "desk/extract.h"
#include "desk/trace_row.h"

struct st_rows;

int st_rows_new(struct st_db *db, struct st_rows **out, struct st_error *err);
void st_rows_free(struct st_rows *r);
void st_rows_freep(struct st_rows **r);
#define st_auto_rows __attribute__((cleanup(st_rows_freep))) struct st_rows *

/* What there is of one event; rows.c knows the rest. */
struct st_event_row {
    struct st_extract x;
    uint64_t seq;
    bool broken;                                /* the chain, up to here */
    uint64_t subject_hash, command_hash;        /* set by st_rows_prepare */
    int64_t id, trace, class, subject, command; /* set by st_rows_add; 0: none */
};

/* What can be known of an event without the database; by any thread. */
void st_rows_prepare(const struct st_rows *r, struct st_event_row *e);

/* A batch is begun by the first of these that finds none. */
int st_rows_add(struct st_rows *r, int64_t trace, struct st_event_row *events, size_t n,
                struct st_error *err);

/* The id that the next event will have. */
int st_rows_next_id(struct st_rows *r, int64_t *out, struct st_error *err);

/* Takes the events of a trace out again, from this id on. */
int st_rows_drop(struct st_rows *r, int64_t trace, int64_t from_id, struct st_error *err);

/* Says of the trace's events behind a seq whether its chain is broken there. */
int st_rows_judge(struct st_rows *r, int64_t trace, uint64_t after_seq, bool broken, struct st_error *err);

/* The issues of the report from number `from` on; those from `keep` on that were there are taken out first.
 */
int st_rows_issues(struct st_rows *r, int64_t trace, const struct st_verify_report *report, uint64_t keep,
                   struct st_error *err);

int st_rows_begin(struct st_rows *r, struct st_error *err);
int st_rows_commit(struct st_rows *r, struct st_error *err);
void st_rows_rollback(struct st_rows *r);
