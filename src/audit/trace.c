/* trace: batch, write, force. See trace.h; opening and rotation are in trace_file.c. */
#include "audit/trace_private.h"

#include "base/json_write.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The writer no longer knows, or can't vouch for, what is on disk. */
static int break_trace(struct st_trace *t, const struct st_error *cause)
{
    t->broken = *cause;
    return -cause->errnum;
}

static int check_whole(const struct st_trace *t, struct st_error *err)
{
    if (t->broken.errnum && err)
        *err = t->broken;
    return -t->broken.errnum;
}

/* Does the file end where this writer left it? Asked after a failed write only. */
static int check_size(struct st_trace *t, struct st_error *err)
{
    struct st_error cause;
    struct stat sb;

    if (fstat(t->fd, &sb) == 0 && (uint64_t)sb.st_size == t->size)
        return 0;
    st_fail(&cause, EIO, "%s: not as its writer left it: %llu bytes were expected", t->path,
            (unsigned long long)t->size);
    if (err)
        *err = cause;
    return break_trace(t, &cause);
}

/* The batch up to `end`. What could not be written stays in it, and the next try goes on at that byte. */
static int write_until(struct st_trace *t, size_t end, struct st_error *err)
{
    int rc = check_whole(t, err);

    while (rc == 0 && t->done < end) {
        ssize_t n = write(t->fd, t->batch + t->done, end - t->done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            rc = st_fail_errno(err, "write %s", t->path);
            t->deadline = st_now_mono_ns() + ST_TRACE_DELAY_NS;
            return check_size(t, err) < 0 ? -t->broken.errnum : rc;
        }
        t->done += (size_t)n;
        t->size += (uint64_t)n;
        t->dirty = true;
    }
    return rc;
}

int st_trace_commit(struct st_trace *t, struct st_error *err)
{
    int rc = write_until(t, t->len, err);

    if (rc < 0)
        return rc;
    t->len = t->done = 0;
    t->deadline = -1;
    return 0;
}

/* A full batch, up to a multiple of its size in the file: such a write costs the kernel a third less. What is
 * behind it, less than a record as a rule, stays and is the beginning of the next. */
static int commit_full(struct st_trace *t, struct st_error *err)
{
    size_t waiting = t->len - t->done, over = (size_t)((t->size + waiting) % ST_TRACE_BATCH);
    int rc;

    if (over >= waiting)
        return st_trace_commit(t, err);
    rc = write_until(t, t->len - over, err);
    if (rc < 0)
        return rc;
    memmove(t->batch, t->batch + t->done, over);
    t->line = t->line >= t->done ? t->line - t->done : 0;
    t->line_len = t->line_len < over ? t->line_len : over;
    t->len = over;
    t->done = 0;
    if (over == 0)
        t->deadline = -1;
    return 0;
}

int st_trace_force(struct st_trace *t, struct st_error *err)
{
    struct st_error cause;
    int rc = st_trace_commit(t, err);

    if (rc < 0 || !t->dirty)
        return rc;
    if (fdatasync(t->fd) < 0 || (t->new_name && fsync(t->dirfd) < 0)) {
        /* The kernel may have dropped the pages and says so only once: never believe a second try. */
        st_fail_errno(&cause, "sync %s", t->path);
        if (err)
            *err = cause;
        return break_trace(t, &cause);
    }
    t->dirty = false;
    t->new_name = false;
    return 0;
}

/* Room for a record of at most `need` bytes behind what is in the batch. */
static int make_room(struct st_trace *t, size_t need, struct st_error *err)
{
    int rc = check_whole(t, err);

    if (rc < 0)
        return rc;
    if (need > ST_RECORD_BOUND_MAX)
        return st_fail(err, EMSGSIZE, "an event too large for a record of %zu bytes", ST_RECORD_MAX);
    if (st_trace_rotation_due(t)) {
        rc = st_trace_commit(t, err);
        if (rc == 0)
            rc = st_trace_rotate(t, err);
    } else if (t->len - t->done >= ST_TRACE_BATCH || t->cap - t->len < need) {
        rc = commit_full(t, err);
        if (rc == 0 && t->cap - t->len < need)
            rc = st_trace_commit(t, err);
    }
    if (rc < 0)
        return rc;
    if (t->cap < need || (t->cap > ST_TRACE_ROOM && need <= ST_TRACE_ROOM && t->len == 0)) {
        t->cap = need > ST_TRACE_ROOM ? need : ST_TRACE_ROOM;
        t->batch = st_xrealloc(t->batch, t->cap);
    }
    return 0;
}

void st_trace_take_line(struct st_trace *t, size_t len, enum st_event_type type, const struct st_verdict *v)
{
    if (t->len == 0)
        t->deadline = st_now_mono_ns() + ST_TRACE_DELAY_NS;
    t->line = t->len;
    t->line_len = len;
    t->len += len;
    if (t->listener)
        t->listener(t->listener_ctx, &(struct st_trace_told){.line = st_trace_line(t),
                                                             .seq = t->link.seq,
                                                             .type = type,
                                                             .result = v ? v->result : ST_ALLOW,
                                                             .severity = v ? v->severity : ST_SEV_NONE});
}

void st_trace_listen(struct st_trace *t, st_trace_listener listener, void *ctx)
{
    t->listener = listener;
    t->listener_ctx = ctx;
}

bool st_trace_is_broken(const struct st_trace *t)
{
    return t->broken.errnum != 0;
}

int st_trace_append(struct st_trace *t, const struct st_event *ev, const struct st_verdict *v,
                    char event_id[ST_EVENT_ID_SIZE], struct st_error *err)
{
    struct st_link before;
    int rc = st_payload_fits(ev) ? 0 : st_fail(err, EINVAL, "an event whose JSON is not canonical");
    size_t len;

    if (rc == 0 && t->checkpoint_records && t->since_checkpoint >= t->checkpoint_records)
        rc = st_trace_checkpoint(t, false, err);
    if (rc == 0)
        rc = make_room(t, st_record_bound(t->recorder, ev, v), err);
    if (rc < 0)
        return rc;
    before = t->link;
    len = st_record_put(t->recorder, t->batch + t->len, ev, v, &t->link, event_id);
    if (len > ST_RECORD_MAX) {
        t->link = before;
        return st_fail(err, EMSGSIZE, "a record of %zu bytes: at most %zu are possible", len, ST_RECORD_MAX);
    }
    st_trace_take_line(t, len, ev->type, v);
    t->since_checkpoint++;
    return 0;
}

int st_trace_checkpoint(struct st_trace *t, bool final, struct st_error *err)
{
    char event_id[ST_EVENT_ID_SIZE];
    int rc = make_room(t, ST_CHECKPOINT_BOUND, err);

    if (rc < 0)
        return rc;
    st_trace_take_line(t,
                       st_record_put_checkpoint(t->recorder, t->batch + t->len, st_now_wall_us(), final,
                                                t->signer, &t->link, event_id),
                       ST_EV_CHECKPOINT, NULL);
    t->since_checkpoint = 0;
    return st_trace_force(t, err);
}

struct st_str st_trace_line(const struct st_trace *t)
{
    return (struct st_str){.p = t->batch + t->line, .len = t->line_len};
}

int64_t st_trace_deadline(const struct st_trace *t)
{
    return t->len && !t->broken.errnum ? t->deadline : -1;
}

uint64_t st_trace_seq(const struct st_trace *t)
{
    return t->link.seq;
}

const char *st_trace_head(const struct st_trace *t)
{
    return t->link.head;
}

void st_trace_close(struct st_trace *t)
{
    if (t)
        st_trace_commit(t, NULL);
    st_trace_forget(t);
}
