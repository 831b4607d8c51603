/* late: see late.h. */
#include "monitor/late.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "monitor/errand.h"
#include "monitor/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (const char *c = text; *c; c++)
        h = (h * 1099511628211u) ^ (unsigned char)*c;
    return h;
}

/* A number alone is used again as soon as its mount is gone. */
static uint64_t key_of(const struct st_mount *m)
{
    uint64_t h = 14695981039346656037u ^ (uint64_t)m->id;

    h = (h * 1099511628211u) ^ m->major;
    h = (h * 1099511628211u) ^ m->minor;
    return hash_text(h, m->root);
}

/* From 6.8 on. */
static uint64_t unique_of(int fd)
{
    struct statx sx;

    return fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID_UNIQUE, &sx) == 0 &&
                   sx.stx_mask & STATX_MNT_ID_UNIQUE
               ? sx.stx_mnt_id
               : 0;
}

static struct st_late_mount *find(const struct st_late *l, uint64_t key)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->known[i].key == key)
            return &l->known[i];
    return NULL;
}

static struct st_late_mount *know(struct st_late *l, const struct st_mount *m)
{
    l->known = st_xrealloc(l->known, (l->n + 1) * sizeof(*l->known));
    l->known[l->n] = (struct st_late_mount){.key = key_of(m)};
    return &l->known[l->n++];
}

static void forget(struct st_late *l, const struct st_mount *m)
{
    struct st_late_mount *known = find(l, key_of(m));

    if (known)
        *known = l->known[--l->n];
}

/* Mounts that are gone are forgotten: whoever mounts and unmounts for ever costs nothing. */
static void forget_gone(struct st_late *l, const struct st_mounts *now)
{
    struct st_late_mount *there = st_xcalloc(now->n + 1, sizeof(*there));
    size_t n = 0;

    for (size_t i = 0; i < now->n; i++) {
        const struct st_late_mount *known = find(l, key_of(&now->list[i]));

        if (known)
            there[n++] = *known;
    }
    free(l->known);
    l->known = there;
    l->n = n;
}

static bool shares_our_mounts(pid_t pid)
{
    char path[32];
    struct stat own, theirs;

    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
    return stat("/proc/self/ns/mnt", &own) < 0 || stat(path, &theirs) < 0 ||
           (own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino);
}

void st_late_open(struct st_late *l, struct st_pipeline *p, const struct st_mounts *container,
                  const struct st_mark_plan *plan)
{
    pid_t pid = p->watch->order.pid;
    char path[32];

    *l = (struct st_late){.pipeline = p, .table = -1};
    if (shares_our_mounts(pid))
        return;
    for (size_t i = 0; i < container->n; i++)
        know(l, &container->list[i]);
    for (size_t i = 0; i < plan->n; i++)
        if (plan->list[i].skip && strcmp(plan->list[i].skip, ST_MARK_COVERED) == 0)
            forget(l, plan->list[i].mount); /* what covers it may go away */
    snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
    l->table = open(path, O_RDONLY | O_CLOEXEC);
}

static void tell(struct st_late *l, const struct st_mount *m, int rc)
{
    st_auto_buf detail = ST_BUF_INIT, payload = ST_BUF_INIT;
    struct st_pipeline *p = l->pipeline;
    struct st_error err = {0};

    if (rc == 0)
        st_buf_addf(&detail, "a mount that appeared later is watched: %s", m->point);
    else
        st_buf_addf(&detail, "a mount that appeared later is not watched (%s): %s", strerror(-rc), m->point);
    st_record_sensor(&payload, "files", rc == 0 ? "on" : "degraded", st_buf_cstr(&detail));
    if (st_pipeline_note(p, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, true, &err) < 0 &&
        p->trace_failed)
        p->trace_failed(p->ctx, &err);
}

/* The runtime hides parts of /proc and /sys behind empty mounts and /dev/null. */
static bool is_mask(const struct st_late *l, const struct st_mount *m)
{
    return !l->runs && (strncmp(m->point, "/proc/", 6) == 0 || strncmp(m->point, "/sys/", 5) == 0);
}

/* Who opens a mount keeps others from taking it away: only as long as it takes. */
static int mark(const struct st_late *l, int root, const struct st_mount *m, struct st_late_mount *seen)
{
    const struct st_watch *w = l->pipeline->watch;
    struct st_errand e = {.kind = ST_ERRAND_MARK, .tid = w->order.pid};
    st_auto_fd fd = st_marks_open(root, m);

    seen->unique = unique_of(fd);
    return fd < 0 ? fd : st_errand_do(w->errands, &e, fd);
}

/* Between two looks one mount may have gone and another have come that has its number, and perhaps its place.
 * What has come is therefore marked at each look: that changes nothing for what is marked. */
static void look_at(struct st_late *l, int root, const struct st_mount *m)
{
    struct st_late_mount *known = find(l, key_of(m)), seen = {key_of(m), 0, hash_text(1, m->point), true};
    bool same;
    int rc;

    if (known && !known->place) /* from the start, and now the root is where it will be */
        known->place = seen.place;
    if (known && known->place == seen.place && !known->came)
        return;
    if (st_marks_skip(m) || is_mask(l, m)) {
        seen.came = false;
        *(known ? known : know(l, m)) = seen;
        return;
    }
    rc = mark(l, root, m, &seen);
    if (rc == -ESTALE)
        return;
    same = known && known->place == seen.place && known->unique == seen.unique;
    *(known ? known : know(l, m)) = seen;
    if (!same)
        tell(l, m, rc);
}

static void look(struct st_late *l)
{
    st_auto_mounts now = {0};
    st_auto_fd root = -1;
    char path[32];

    if (l->table < 0 || st_mounts_read(l->pipeline->watch->order.pid, &now, NULL) < 0)
        return;
    snprintf(path, sizeof(path), "/proc/%d/root", (int)l->pipeline->watch->order.pid);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return;
    forget_gone(l, &now);
    for (size_t i = 0; i < now.n; i++)
        look_at(l, root, &now.list[i]);
}

/* While the runtime moves the root its table is now this, now that. It makes a dozen changes there, for which
 * nobody need be woken: but for the first, which the kernel tells unasked, they are told from the beginning
 * on. */
static void on_change(void *ctx, uint32_t events)
{
    struct st_late *l = ctx;

    (void)events;
    if (l->runs)
        look(l);
}

void st_late_begin(struct st_late *l)
{
    if (l->loop) /* before the look: what comes after it is told */
        st_loop_change(l->loop, l->table, EPOLLIN | EPOLLET);
    look(l);
    l->runs = true;
}

/* EPOLLPRI is told once, to whoever looks first, and the warden looks too (whether work waits). The file is
 * always readable: what is awaited is the edge, which no look takes away. */
int st_late_attach(struct st_late *l, struct st_loop *loop)
{
    if (l->table < 0)
        return 0;
    l->loop = loop;
    return st_loop_add(loop, "mounts", l->table, EPOLLONESHOT, on_change, l);
}

void st_late_close(struct st_late *l, struct st_loop *loop)
{
    if (!l->pipeline) /* was never opened */
        return;
    if (l->table >= 0)
        st_loop_remove(loop, l->table);
    st_close(&l->table);
    l->loop = NULL;
    free(l->known);
    l->known = NULL;
    l->n = 0;
}
