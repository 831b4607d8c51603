/* ingest: what is new in one trace, into the database, its chain checked on the way.
 *
 * A chain that is broken is said in the row of the trace, in its issues, and in every event from there on;
 * where signatures are demanded, from the last one on that stands. A file that is not the one that was read
 * before, or has become shorter, is read from its beginning; the trace's note keeps what was there. */
#pragma once

#include "audit/sign.h"
#include "desk/db.h"

struct st_ingest_options {
    const struct st_public_key *keys; /* trusted; borrowed */
    size_t n_keys;
    bool allow_unsigned;
    /* Told while a trace is read, often; may be NULL. events: of this trace, so far. */
    void (*on_read)(void *ctx, const char *name, uint64_t events);
    void *ctx;
};

struct st_ingest;

int st_ingest_new(struct st_db *db, const struct st_ingest_options *o, struct st_ingest **out,
                  struct st_error *err);
void st_ingest_free(struct st_ingest *in);
void st_ingest_freep(struct st_ingest **in);
#define st_auto_ingest __attribute__((cleanup(st_ingest_freep))) struct st_ingest *

/* name: of the trace's file in dirfd. *events: how many were added. */
int st_ingest_trace(struct st_ingest *in, int dirfd, const char *name, uint64_t *events,
                    struct st_error *err);

/* A trace whose file is gone; its events stay. */
int st_ingest_missing(struct st_ingest *in, const char *name, struct st_error *err);
