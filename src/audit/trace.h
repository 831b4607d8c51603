/* trace: the writer of one trace file.
 *
 * Records are gathered in a batch and written together: when they have filled 64 KiB of the file (where a
 * record may be cut in two: its rest is the beginning of the next batch), when the owner's event loop calls
 * st_trace_commit() at the deadline (50 ms after the first), or when they are forced. What must be on disk
 * before the world goes on (refusals, pauses, the start record) the caller forces with st_trace_force(); a
 * checkpoint is always forced.
 *
 * Errors. Whatever fails, the writer knows what is in the file and never rewrites or shortens it. A write
 * that failed or was cut short (disk full) leaves its rest in the batch, and the next commit goes on at
 * exactly that byte. An append that finds the batch full and the disk too is refused, and its event is not
 * part of the trace: pause, then append it again. After a failed fdatasync, or when the file is not as this
 * writer left it, nothing it could say would be true: every later call fails with the same error.
 *
 * One writer a trace: an open-file-description lock, gone when the last process that holds the file is gone.
 * After fork() one of the two must call st_trace_forget(). System calls after opening: write, fdatasync,
 * fstat, clock_gettime, getrandom; with rotation also openat, renameat2, getdents64, fcntl, fsync, fchmod,
 * close. */
#pragma once

#include "audit/record.h"

#define ST_TRACE_BATCH ((size_t)65536)
#define ST_TRACE_DELAY_NS INT64_C(50000000)

struct st_trace;

struct st_trace_options {
    const char *path; /* …/ID.jsonl, created 0640; its folder must be there */
    const char *agent_id, *trace_id;
    const struct st_signer *signer; /* NULL: checkpoints are unsigned. Borrowed until the trace is closed */
    uint64_t rotate_bytes;          /* from this size on ID.jsonl is continued in a new file; 0: never */
    /* After so many records a checkpoint is made and forced by itself, so that a cut trace is vouched for
     * nearly to its end, and the next writer has not far to look back; 0: only when asked */
    uint64_t checkpoint_records;
};

/* Opens or creates the trace and takes its lock (-EBUSY: another writer has it). Goes on after the last
 * record; bytes of a write that was cut short stay, and a `sensor` record that declares them goes into the
 * batch as the first. */
int st_trace_open(const struct st_trace_options *o, struct st_trace **out, struct st_error *err);

/* The same in two steps, for who keeps others from writing it meanwhile: what takes time where the folder is
 * full, and leaves nothing behind; then the file. */
int st_trace_prepare(const struct st_trace_options *o, struct st_trace **out, struct st_error *err);
int st_trace_begin(struct st_trace *t, struct st_error *err);

/* Takes the event into the batch. event_id is its id; v NULL: nothing was decided. -EMSGSIZE: no record may
 * be longer than 1 MiB. -EINVAL: the JSON that the event brings along is not canonical. On any failure the
 * trace is as it was. */
int st_trace_append(struct st_trace *t, const struct st_event *ev, const struct st_verdict *v,
                    char event_id[ST_EVENT_ID_SIZE], struct st_error *err);

/* A line, with its newline, and what it says of itself, for who would have to read it otherwise. */
struct st_trace_told {
    struct st_str line;
    uint64_t seq;
    enum st_event_type type;
    enum st_result result;
    enum st_severity severity;
};

/* Told each line from now on as it goes into the batch: those that were appended, and the trace's own
 * (checkpoints, rotation). It must not call the trace. */
typedef void (*st_trace_listener)(void *ctx, const struct st_trace_told *told);
void st_trace_listen(struct st_trace *t, st_trace_listener listener, void *ctx);

/* The line that was appended last, with its newline, as it stands in the trace; until the next call. */
struct st_str st_trace_line(const struct st_trace *t);

/* Writes the batch; it is then in the kernel's hands, which a crash of this process does not matter to. */
int st_trace_commit(struct st_trace *t, struct st_error *err);

/* Everything appended is on disk. */
int st_trace_force(struct st_trace *t, struct st_error *err);

/* A checkpoint over all that was appended, signed and forced. final: the trace is closed by it; a later
 * writer goes on after it. Where it fails, it may be in the batch already: force, do not ask for another. */
int st_trace_checkpoint(struct st_trace *t, bool final, struct st_error *err);

/* This writer is at its end: no retry will help. */
bool st_trace_is_broken(const struct st_trace *t);

/* Monotonic time in ns by which the batch wants to be committed; -1: nothing waits. */
int64_t st_trace_deadline(const struct st_trace *t);

uint64_t st_trace_seq(const struct st_trace *t);     /* of the last record; 0: none */
const char *st_trace_head(const struct st_trace *t); /* "sha256:…" of the last record; "": none */

/* Commits what is in the batch (force or checkpoint first, where it matters whether that worked), lets go
 * of the lock and frees. */
void st_trace_close(struct st_trace *t);

/* Frees without writing, for the process that got it by fork() and leaves writing to the other. */
void st_trace_forget(struct st_trace *t);
