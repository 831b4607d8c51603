/* index: all traces of a folder into the database, once or for as long as somebody wants to follow them.
 *
 * One process at a time: it holds a lock beside the database. */
#pragma once

#include "desk/ingest.h"

struct st_index_options {
    const char *db, *log_dir;
    struct st_ingest_options ingest;
    bool rebuild; /* from nothing */
    bool follow;  /* until stop_fd is readable; it may be -1 */
    int stop_fd;
    /* Told after each pass over all there was to read, and of a trace that could not be (which is passed
     * over). Both may be NULL. */
    void (*on_pass)(void *ctx, uint64_t traces, uint64_t events);
    void (*on_trouble)(void *ctx, const struct st_error *err);
    void *ctx;
};

/* -EBUSY: another one is at work. */
int st_index(const struct st_index_options *o, struct st_error *err);

/* Is one at work on this database? */
bool st_index_is_busy(const char *db);
