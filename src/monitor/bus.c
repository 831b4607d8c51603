/* bus: see bus.h. */
#include "monitor/bus.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/busdir.h"
#include "monitor/peer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define TRIES 6
#define FIRST_RETRY_NS 10000000LL /* each next one after three times as long */
#define SCAN_MAX 256
#define FLUSH_AT ((size_t)65536)

static struct st_bus_reader *reader_of(struct st_bus *b, const struct stat *sb)
{
    for (int i = 0; i < ST_BUS_READERS; i++)
        if (b->readers[i].fd >= 0 && b->readers[i].ino == sb->st_ino && b->readers[i].dev == sb->st_dev)
            return &b->readers[i];
    return NULL;
}

static struct st_bus_reader *free_reader(struct st_bus *b)
{
    for (int i = 0; i < ST_BUS_READERS; i++)
        if (b->readers[i].fd < 0)
            return &b->readers[i];
    return NULL;
}

static void scan(struct st_bus *b);

static void drop(struct st_bus_reader *r)
{
    struct st_bus *b = r->bus;

    st_loop_remove(b->loop, r->fd);
    st_close(&r->fd);
    st_outbox_free(&r->out);
    *r = (struct st_bus_reader){.bus = b, .fd = -1};
    if (b->crowded) {
        b->crowded = false;
        scan(b);
    }
}

/* Sends what can be sent. May drop the reader. Never reads: what a reader says stays in its socket. */
static void settle(struct st_bus_reader *r)
{
    int rc = st_outbox_flush(&r->out, r->fd, r->bus->id);
    uint32_t wanted = EPOLLRDHUP | (rc > 0 ? EPOLLOUT : 0);

    if (rc < 0) {
        drop(r);
        return;
    }
    if (wanted != r->watched)
        st_loop_change(r->bus->loop, r->fd, wanted);
    r->watched = wanted;
}

static void on_reader(void *ctx, uint32_t events)
{
    struct st_bus_reader *r = ctx;

    if (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP))
        drop(r);
    else
        settle(r);
}

/* ---- readers that appear ---- */

static bool is_name(const char *name)
{
    size_t len = strlen(name);

    return name[0] != '.' && len > 5 && strcmp(name + len - 5, ".sock") == 0;
}

/* The socket by its inode: a name can be exchanged between look and use. */
static int connect_to(const struct st_bus *b, const char *name, struct stat *sb)
{
    st_auto_fd path = openat(b->dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1;
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct st_peer peer;

    if (path < 0 || fstat(path, sb) < 0)
        return -ENOENT;
    if (!S_ISSOCK(sb->st_mode) || (sb->st_uid != 0 && (b->gid < 0 || sb->st_gid != (gid_t)b->gid)))
        return -EPERM;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d", path);
    if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        return -errno;
    /* Whoever called listen(), whatever the owner of the name. */
    if (!st_peer_is_welcome(fd, b->gid, &peer))
        return -EPERM;
    return st_steal_fd(&fd);
}

static void forget_retry(struct st_bus *b, const char *name)
{
    for (int i = 0; i < ST_BUS_READERS; i++)
        if (strcmp(b->retries[i].name, name) == 0)
            b->retries[i] = (struct st_bus_retry){0};
}

/* A free place, else that of the one that has been tried most: it is the least likely to come alive. */
static struct st_bus_retry *retry_place(struct st_bus *b)
{
    struct st_bus_retry *worst = &b->retries[0];

    for (int i = 0; i < ST_BUS_READERS; i++) {
        if (!b->retries[i].name[0])
            return &b->retries[i];
        if (b->retries[i].tries > worst->tries)
            worst = &b->retries[i];
    }
    return worst;
}

static void retry_later(struct st_bus *b, const char *name, unsigned tries)
{
    struct st_bus_retry *place;
    int64_t delay = FIRST_RETRY_NS;

    forget_retry(b, name);
    if (tries >= TRIES)
        return;
    for (unsigned i = 0; i < tries; i++)
        delay *= 3;
    place = retry_place(b);
    snprintf(place->name, sizeof(place->name), "%s", name);
    place->tries = tries + 1;
    place->at_ns = st_now_mono_ns() + delay;
}

static void take(struct st_bus *b, const char *name, unsigned tries)
{
    struct st_bus_reader *r = free_reader(b);
    struct stat sb;
    st_auto_fd fd = -1;

    if (!is_name(name) || strlen(name) > NAME_MAX)
        return;
    if (fstatat(b->dirfd, name, &sb, AT_SYMLINK_NOFOLLOW) < 0 || reader_of(b, &sb))
        return;
    if (!r) {
        b->crowded = true;
        return;
    }
    fd = connect_to(b, name, &sb);
    if (fd == -ECONNREFUSED || fd == -EAGAIN || fd == -EACCES) {
        retry_later(b, name, tries);
        return;
    }
    forget_retry(b, name);
    if (fd < 0 || reader_of(b, &sb) || st_loop_add(b->loop, "bus reader", fd, EPOLLRDHUP, on_reader, r) < 0)
        return;
    *r = (struct st_bus_reader){
        .bus = b, .fd = st_steal_fd(&fd), .dev = sb.st_dev, .ino = sb.st_ino, .watched = EPOLLRDHUP};
}

static void scan(struct st_bus *b)
{
    int copy = openat(b->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_dir dir = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;

    if (!dir)
        st_close(&copy);
    for (int n = 0; dir && n < SCAN_MAX && (entry = readdir(dir)); n++)
        take(b, entry->d_name, TRIES - 2);
}

static void on_notify(void *ctx, uint32_t events)
{
    struct st_bus *b = ctx;
    char bytes[4096];
    ssize_t n = read(b->notify, bytes, sizeof(bytes));
    struct inotify_event ev;

    (void)events;
    for (ssize_t at = 0; at + (ssize_t)sizeof(ev) <= n; at += (ssize_t)(sizeof(ev) + ev.len)) {
        memcpy(&ev, bytes + at, sizeof(ev));
        if (ev.mask & IN_Q_OVERFLOW)
            scan(b);
        else if (ev.len)
            take(b, bytes + at + sizeof(ev), 0);
    }
}

/* ---- life ---- */

static void close_all(struct st_bus *b)
{
    st_close(&b->notify);
    st_close(&b->dirfd);
}

int st_bus_open(struct st_bus *b, const char *state_dir, int64_t gid, const char *id, struct st_error *err)
{
    char folder[32];
    int rc;

    *b = (struct st_bus){.dirfd = -1, .notify = -1, .gid = gid, .id = id};
    for (int i = 0; i < ST_BUS_READERS; i++)
        b->readers[i] = (struct st_bus_reader){.bus = b, .fd = -1};
    b->dirfd = st_busdir_open(state_dir, gid, err);
    if (b->dirfd < 0)
        return -err->errnum;
    b->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    snprintf(folder, sizeof(folder), "/proc/self/fd/%d", b->dirfd);
    if (b->notify >= 0 &&
        inotify_add_watch(b->notify, folder, IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR) >= 0)
        return 0;
    rc = st_fail_errno(err, "watch %s/" ST_BUS_DIR, state_dir);
    close_all(b);
    return rc;
}

int st_bus_attach(struct st_bus *b, struct st_loop *loop, struct st_error *err)
{
    int rc;

    b->loop = loop;
    if (b->notify < 0)
        return 0;
    rc = st_loop_add(loop, "bus", b->notify, EPOLLIN, on_notify, b);
    if (rc < 0)
        return st_fail(err, -rc, "watch the bus");
    scan(b);
    return 0;
}

void st_bus_tell(struct st_bus *b, uint64_t seq, const char *line, size_t len)
{
    for (int i = 0; i < ST_BUS_READERS; i++) {
        struct st_bus_reader *r = &b->readers[i];

        if (r->fd < 0)
            continue;
        st_outbox_event(&r->out, seq, line, len);
        /* A round that brings much does not count as a reader that is slow. */
        if (st_outbox_waits(&r->out) > FLUSH_AT && !(r->watched & EPOLLOUT))
            settle(r);
    }
}

void st_bus_flush(struct st_bus *b)
{
    for (int i = 0; i < ST_BUS_READERS; i++) {
        struct st_bus_reader *r = &b->readers[i];

        /* One that waits for room is told by the loop. */
        if (r->fd >= 0 && !(r->watched & EPOLLOUT) && st_outbox_waits(&r->out))
            settle(r);
    }
}

int64_t st_bus_deadline(const struct st_bus *b)
{
    int64_t earliest = -1;

    for (int i = 0; i < ST_BUS_READERS; i++)
        if (b->retries[i].name[0] && (earliest < 0 || b->retries[i].at_ns < earliest))
            earliest = b->retries[i].at_ns;
    return earliest;
}

void st_bus_tick(struct st_bus *b)
{
    int64_t now = st_now_mono_ns();

    for (int i = 0; i < ST_BUS_READERS; i++) {
        struct st_bus_retry due = b->retries[i];

        if (due.name[0] && due.at_ns <= now)
            take(b, due.name, due.tries);
    }
}

void st_bus_close(struct st_bus *b)
{
    b->crowded = false;
    for (int i = 0; i < ST_BUS_READERS; i++) {
        struct st_bus_reader *r = &b->readers[i];

        if (r->fd < 0)
            continue;
        st_outbox_flush(&r->out, r->fd, b->id);
        drop(r);
    }
    if (b->loop && b->notify >= 0)
        st_loop_remove(b->loop, b->notify);
    close_all(b);
}
