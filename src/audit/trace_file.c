/* trace_file: opening, locking, continuing and rotating the files of a trace.
 *
 * A set of files is one trace: ID.jsonl.1 (the oldest), ID.jsonl.2 …, ID.jsonl (being written). A file that
 * is full is renamed, never copied; numbers only grow. Should we die between the rename and the making of the
 * new file, the next writer goes on from the highest number. */
#include "audit/trace_private.h"

#include "audit/rotated.h"
#include "audit/tail.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FLAGS (O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK)

/* Opens name in dirfd or makes it. *made: it was not there. */
static int open_or_make(int dirfd, const char *name, bool *made, struct st_error *err)
{
    for (;;) {
        int fd = openat(dirfd, name, FLAGS | O_CREAT | O_EXCL, 0640);

        *made = fd >= 0;
        if (fd < 0 && errno == EEXIST)
            fd = openat(dirfd, name, FLAGS);
        if (fd < 0 && errno == ENOENT) /* renamed under us by a writer that rotates */
            continue;
        if (fd < 0)
            return st_fail_errno(err, "open %s", name);
        if (*made && fchmod(fd, 0640) < 0) {
            int rc = st_fail_errno(err, "chmod %s", name);

            close(fd);
            return rc;
        }
        return fd;
    }
}

static int lock(int fd, const char *name, struct st_error *err)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(fd, F_OFD_SETLK, &fl) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return st_fail(err, EBUSY,
                       "%s: another writer has this trace: is a monitor of this container still running?",
                       name);
    return st_fail_errno(err, "lock %s", name);
}

/* Is fd still what name means? Another writer may have rotated between our open and our lock. */
static bool still_named(int fd, int dirfd, const char *name)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && fstatat(dirfd, name, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static int open_locked(struct st_trace *t, struct st_error *err)
{
    struct stat sb;

    for (;;) {
        st_auto_fd fd = open_or_make(t->dirfd, t->name, &t->new_name, err);
        int rc = fd < 0 ? fd : 0;

        if (rc == 0 && (fstat(fd, &sb) < 0 || !S_ISREG(sb.st_mode)))
            rc = st_fail(err, EINVAL, "%s: not a regular file", t->name);
        if (rc == 0)
            rc = lock(fd, t->name, err);
        if (rc < 0)
            return rc;
        if (still_named(fd, t->dirfd, t->name)) {
            t->fd = st_steal_fd(&fd);
            return 0;
        }
    }
}

/* An empty file may follow others: the link is then at the end of the last of them. */
static int continue_rotated(struct st_trace *t, struct st_error *err)
{
    char name[NAME_MAX + 1];
    struct st_tail tail;
    st_auto_fd fd = -1;
    int rc;

    if (t->rotated == 0)
        return 0;
    rc = st_rotated_name(t->name, t->rotated, name, err);
    if (rc < 0)
        return rc;
    fd = openat(t->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return st_fail_errno(err, "open %s", name);
    rc = st_tail_read(fd, &tail, err);
    if (rc < 0)
        return st_wrap(err, "%s", name);
    if (tail.torn.length || tail.needs_newline)
        return st_fail(err, EBADMSG, "%s: a finished file of the trace has a torn end", name);
    t->link = tail.link;
    return 0;
}

/* A record about the trace itself; json is its payload. */
static int append_own(struct st_trace *t, const struct st_buf *json, struct st_error *err)
{
    char event_id[ST_EVENT_ID_SIZE];
    struct st_event ev = {.type = ST_EV_SENSOR,
                          .tier = ST_TIER_DERIVED,
                          .wall_us = st_now_wall_us(),
                          .json = {.p = json->data, .len = json->len}};

    return st_trace_append(t, &ev, NULL, event_id, err);
}

/* The torn bytes stay as they are; the first record behind them says what they are. */
static int declare_torn(struct st_trace *t, const struct st_tail *tail, struct st_error *err)
{
    st_auto_buf json = ST_BUF_INIT;

    st_torn_payload(&tail->torn, &json);
    return append_own(t, &json, err);
}

static int continue_trace(struct st_trace *t, struct st_error *err)
{
    struct st_tail tail;
    int rc = st_tail_read(t->fd, &tail, err);

    if (rc < 0)
        return rc;
    t->size = tail.size;
    t->link = tail.link;
    if (t->link.seq == 0)
        rc = continue_rotated(t, err);
    if (tail.needs_newline) {
        t->batch[t->len++] = '\n';
        t->deadline = st_now_mono_ns() + ST_TRACE_DELAY_NS;
    }
    if (rc == 0 && tail.torn.length)
        rc = declare_torn(t, &tail, err);
    return rc;
}

static int open_folder(struct st_trace *t, struct st_error *err)
{
    char *slash = strrchr(t->path, '/');
    st_auto_free char *folder = NULL;

    t->name = slash ? slash + 1 : t->path;
    if (!*t->name)
        return st_fail(err, EINVAL, "no file name");
    if (!slash)
        folder = st_xstrdup(".");
    else if (slash == t->path)
        folder = st_xstrdup("/");
    else
        folder = st_xstrndup(t->path, (size_t)(slash - t->path));
    t->dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return t->dirfd < 0 ? st_fail_errno(err, "open the folder %s", folder) : 0;
}

int st_trace_prepare(const struct st_trace_options *o, struct st_trace **out, struct st_error *err)
{
    struct st_trace *t = st_xcalloc(1, sizeof(*t));
    int rc;

    t->fd = t->dirfd = -1;
    t->deadline = -1;
    t->path = st_xstrdup(o->path);
    t->signer = o->signer;
    t->rotate_bytes = t->rotate_at = o->rotate_bytes;
    t->checkpoint_records = o->checkpoint_records;
    t->cap = ST_TRACE_ROOM;
    t->batch = st_xmalloc(t->cap);
    rc = st_recorder_new(o->agent_id, o->trace_id, &t->recorder, err);
    if (rc == 0)
        rc = open_folder(t, err);
    if (rc == 0)
        rc = st_rotated_last(t->dirfd, t->name, &t->rotated, err);
    if (rc < 0) {
        st_trace_forget(t);
        return st_wrap(err, "trace %s", o->path);
    }
    *out = t;
    return 0;
}

int st_trace_begin(struct st_trace *t, struct st_error *err)
{
    if (open_locked(t, err) < 0 || continue_trace(t, err) < 0)
        return st_wrap(err, "trace %s", t->path);
    return 0;
}

int st_trace_open(const struct st_trace_options *o, struct st_trace **out, struct st_error *err)
{
    struct st_trace *t = NULL;

    if (st_trace_prepare(o, &t, err) < 0)
        return -err->errnum;
    if (st_trace_begin(t, err) < 0) {
        st_trace_forget(t);
        return -err->errnum;
    }
    *out = t;
    return 0;
}

void st_trace_forget(struct st_trace *t)
{
    if (!t)
        return;
    st_close(&t->fd);
    st_close(&t->dirfd);
    st_recorder_free(t->recorder);
    free(t->batch);
    free(t->path);
    free(t);
}

/* The present file gets its number; a new one takes its place. */
static int swap_files(struct st_trace *t, struct st_error *err)
{
    char name[NAME_MAX + 1];
    unsigned last = 0;
    int rc = st_rotated_last(t->dirfd, t->name, &last, err);

    if (rc == 0)
        rc = st_rotated_name(t->name, last + 1, name, err);
    if (rc < 0)
        return rc;
    if (renameat2(t->dirfd, t->name, t->dirfd, name, RENAME_NOREPLACE) < 0)
        return st_fail_errno(err, "rename %s to %s", t->name, name);
    return 0;
}

static int declare_not_rotated(struct st_trace *t, const struct st_error *why, struct st_error *err)
{
    st_auto_buf json = ST_BUF_INIT;
    struct st_jw w;

    st_jw_init(&w, &json);
    st_jw_object(&w);
    st_jw_kstr(&w, "reason", why->msg);
    st_jw_kstr(&w, "sensor", "trace");
    st_jw_kstr(&w, "state", "not_rotated");
    st_jw_end(&w, '}');
    return append_own(t, &json, err);
}

int st_trace_rotate(struct st_trace *t, struct st_error *err)
{
    char event_id[ST_EVENT_ID_SIZE];
    int rc, old = t->fd;
    struct st_error why;

    t->rotate_at += t->rotate_bytes;
    t->since_checkpoint = 0;
    st_trace_take_line(t,
                       st_record_put_checkpoint(t->recorder, t->batch, st_now_wall_us(), false, t->signer,
                                                &t->link, event_id),
                       ST_EV_CHECKPOINT, NULL);
    rc = st_trace_force(t, err);
    if (rc < 0)
        return rc;
    if (swap_files(t, &why) < 0)
        return declare_not_rotated(t, &why, err);
    rc = open_locked(t, err);
    if (rc < 0) {
        /* The chain would go on in a file that we do not have: this writer is at its end. */
        t->fd = old;
        t->broken = *err;
        return rc;
    }
    close(old);
    t->size = 0;
    t->rotate_at = t->rotate_bytes;
    t->new_name = true;
    return 0;
}
