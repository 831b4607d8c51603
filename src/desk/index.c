/* index: see index.h. */
#include "desk/index.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/folder.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>

struct job {
    const struct st_index_options *o;
    struct st_db *db;
    struct st_ingest *ingest;
    int dirfd, lock;
    int gone;     /* readable: something beside the database was taken away, or the database */
    bool rebuilt; /* what was there before us is gone, where that was asked for */
    uint64_t traces, events;
};

static int take_lock(struct job *j, struct st_error *err)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    st_auto_free char *name = st_xasprintf("%s-lock", j->o->db);

    j->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0640);
    if (j->lock < 0)
        return st_fail_errno(err, "open %s", name);
    if (fcntl(j->lock, F_OFD_SETLK, &fl) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return st_fail(err, EBUSY, "%s: another sandtrace is at work on it", j->o->db);
    return st_fail_errno(err, "lock %s", name);
}

bool st_index_is_busy(const char *db)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    st_auto_free char *name = st_xasprintf("%s-lock", db);
    st_auto_fd fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);

    return fd >= 0 && fcntl(fd, F_OFD_GETLK, &fl) == 0 && fl.l_type != F_UNLCK;
}

static void close_db(struct job *j)
{
    st_ingest_freep(&j->ingest);
    st_db_closep(&j->db);
}

/* The lock stands beside the database, and may be gone with it. */
static int open_db(struct job *j, struct st_error *err)
{
    int rc = st_db_make_folder(j->o->db, err);

    st_close(&j->lock);
    if (rc == 0)
        rc = take_lock(j, err);
    st_close(&j->gone);
    if (rc == 0 && j->o->follow)
        rc = j->gone = st_folder_watch_gone(j->o->db, err);
    if (rc >= 0 && j->o->rebuild && !j->rebuilt)
        rc = st_db_remove(j->o->db, err);
    j->rebuilt = true;
    if (rc >= 0)
        rc = st_db_open(j->o->db, ST_DB_WRITE, &j->db, err);
    return rc < 0 ? rc : st_ingest_new(j->db, &j->o->ingest, &j->ingest, err);
}

/* ---- which traces there are ---- */

/* A trace that can't be read does not keep the others from being read; the database's own failures end it. */
static int take_in(struct job *j, const char *name, struct st_error *err)
{
    struct st_error trouble = {0};
    uint64_t events = 0;
    int rc = st_ingest_trace(j->ingest, j->dirfd, name, &events, &trouble);

    j->traces++;
    j->events += events;
    if (rc == 0)
        return 0;
    if (rc == -EIO || rc == -ENOSPC || rc == -EBUSY) {
        *err = trouble;
        return rc;
    }
    if (j->o->on_trouble)
        j->o->on_trouble(j->o->ctx, &trouble);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_traces(int dirfd, struct st_trace_names *out, struct st_error *err)
{
    st_auto_fd again = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_dir dir = again >= 0 ? fdopendir(again) : NULL;
    struct dirent *entry;
    size_t kept = 0;

    if (!dir)
        return st_fail_errno(err, "read the folder of traces");
    st_steal_fd(&again);
    for (errno = 0; (entry = readdir(dir)); errno = 0) {
        size_t len = st_trace_name_len(entry->d_name);

        if (!len)
            continue;
        out->list = st_xrealloc(out->list, (out->n + 1) * sizeof(*out->list));
        out->list[out->n++] = st_xstrndup(entry->d_name, len);
    }
    if (errno)
        return st_fail_errno(err, "read the folder of traces");
    if (out->n)
        qsort(out->list, out->n, sizeof(*out->list), by_name);
    for (size_t i = 0; i < out->n; i++) /* rotated ones are found under the same name */
        if (kept && strcmp(out->list[kept - 1], out->list[i]) == 0)
            free(out->list[i]);
        else
            out->list[kept++] = out->list[i];
    out->n = kept;
    return 0;
}

static bool has_name(const struct st_trace_names *names, const char *name)
{
    return names->n && bsearch(&name, names->list, names->n, sizeof(*names->list), by_name);
}

/* Traces of which the database knows, and which are not there any more. */
static int mark_missing(struct job *j, const struct st_trace_names *there, struct st_error *err)
{
    st_auto_stmt s = NULL;
    struct st_trace_names gone = {0};
    int rc = st_db_prepare(j->db, "SELECT name FROM trace WHERE state <> 'missing'", &s, err);

    while (rc == 0 && (rc = st_db_step(j->db, s, err)) > 0) {
        const char *name = (const char *)sqlite3_column_text(s, 0);

        rc = 0;
        if (!name || has_name(there, name))
            continue;
        gone.list = st_xrealloc(gone.list, (gone.n + 1) * sizeof(*gone.list));
        gone.list[gone.n++] = st_xstrdup(name);
    }
    st_stmt_freep(&s);
    for (size_t i = 0; i < gone.n && rc == 0; i++)
        rc = st_ingest_missing(j->ingest, gone.list[i], err);
    st_trace_names_free(&gone);
    return rc;
}

static int look_at_all(struct job *j, struct st_error *err)
{
    struct st_trace_names names = {0};
    int rc = list_traces(j->dirfd, &names, err);

    for (size_t i = 0; i < names.n && rc == 0; i++)
        rc = take_in(j, names.list[i], err);
    if (rc == 0)
        rc = mark_missing(j, &names, err);
    st_trace_names_free(&names);
    return rc;
}

/* ---- following ---- */

static int look_at_changed(struct job *j, int watch, struct st_error *err)
{
    struct st_trace_names names = {0};
    int rc = st_folder_changes(watch, &names, err);

    if (rc == 0 && st_db_was_replaced(j->db)) {
        /* Somebody took the database away: what it said is in the traces. */
        close_db(j);
        names.all = true;
        rc = open_db(j, err);
    }
    if (rc == 0 && names.all)
        rc = look_at_all(j, err);
    for (size_t i = 0; i < names.n && rc == 0 && !names.all; i++)
        rc = take_in(j, names.list[i], err);
    st_trace_names_free(&names);
    return rc;
}

static void tell(struct job *j)
{
    if (j->o->on_pass)
        j->o->on_pass(j->o->ctx, j->traces, j->events);
    j->traces = j->events = 0;
}

/* What happened there is seen by looking. */
static void forget_gone(const struct job *j)
{
    char events[4096] __attribute__((aligned(8)));

    while (read(j->gone, events, sizeof(events)) > 0)
        ;
}

static int follow(struct job *j, int watch, struct st_error *err)
{
    int rc = 0;

    while (rc == 0) {
        struct pollfd fds[] = {{.fd = watch, .events = POLLIN},
                               {.fd = j->o->stop_fd, .events = POLLIN},
                               {.fd = j->gone, .events = POLLIN}};

        /* It may have gone before that was watched. */
        if (poll(fds, 3, st_db_was_replaced(j->db) ? 0 : -1) < 0) {
            if (errno == EINTR)
                continue;
            return st_fail_errno(err, "poll");
        }
        if (fds[1].revents)
            return 0;
        forget_gone(j);
        rc = look_at_changed(j, watch, err);
        if (rc == 0)
            tell(j);
    }
    return rc;
}

static int run(struct job *j, struct st_error *err)
{
    st_auto_fd watch = -1;
    int rc = 0;

    j->dirfd = open(j->o->log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->dirfd < 0)
        return st_fail_errno(err, "open %s", j->o->log_dir);
    if (j->o->follow) /* before the first look: what comes meanwhile is seen twice, not never */
        watch = st_folder_watch(j->o->log_dir, err);
    if (j->o->follow && watch < 0)
        return -err->errnum;
    rc = look_at_all(j, err);
    if (rc < 0)
        return rc;
    tell(j);
    return j->o->follow ? follow(j, watch, err) : 0;
}

int st_index(const struct st_index_options *o, struct st_error *err)
{
    struct job j = {.o = o, .dirfd = -1, .lock = -1, .gone = -1};
    int rc = open_db(&j, err);

    if (rc == 0)
        rc = run(&j, err);
    close_db(&j);
    st_close(&j.dirfd);
    st_close(&j.gone);
    st_close(&j.lock);
    return rc;
}
