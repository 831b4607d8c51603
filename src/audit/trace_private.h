/* trace_private: the writer's struct, shared by trace.c (batches) and trace_file.c (files). */
#pragma once

#include "audit/trace.h"

/* A full batch, and the record that filled it. */
#define ST_TRACE_ROOM (ST_TRACE_BATCH + ((size_t)16 << 10))

struct st_trace {
    int fd, dirfd;
    char *path;
    const char *name; /* within path */
    struct st_recorder *recorder;
    const struct st_signer *signer;
    uint64_t rotate_bytes, rotate_at; /* what was asked for; the size at which to try next; 0: never */
    uint64_t checkpoint_records, since_checkpoint;
    unsigned rotated;    /* the highest number of a file that was full when this writer came; 0: none */
    struct st_link link; /* the last record, in the batch or in the file */

    char *batch;
    size_t cap, len, done; /* done: how much of it is in the file already, after a write that was cut short */
    size_t line, line_len; /* the line that was appended last */
    int64_t deadline;
    st_trace_listener listener;
    void *listener_ctx;

    uint64_t size;          /* of the file, as far as we know */
    bool dirty;             /* something was written since the last fdatasync */
    bool new_name;          /* the file was made and its folder not yet synced */
    struct st_error broken; /* errnum set: see st_trace_open's charter, every call fails with this */
};

/* Counts the line of `len` bytes that was just put behind the batch as part of it. */
void st_trace_take_line(struct st_trace *t, size_t len, enum st_event_type type, const struct st_verdict *v);

/* Has the file reached its size, with what is in the batch? */
static inline bool st_trace_rotation_due(const struct st_trace *t)
{
    return t->rotate_at && t->link.seq && t->size + (t->len - t->done) >= t->rotate_at;
}

/* Closes the file with a checkpoint and goes on in a new one. The batch is empty. Where the file can't be
 * renamed, it is gone on with, a `sensor` record says so, and the next try comes a file's size later. */
int st_trace_rotate(struct st_trace *t, struct st_error *err);
