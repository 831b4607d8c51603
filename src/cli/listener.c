/* listener: see listener.h. */
#include "cli/listener.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "monitor/busdir.h"
#include "monitor/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define LINE_MAX_BYTES ((size_t)2 << 20)
#define SPEAKERS_MAX 4096
#define PREFIX "watch-"

struct speaker {
    struct st_speaker public;
    struct st_buf in;
};

struct st_listener {
    int dirfd, fd;
    char name[64];
    struct speaker **list;
    size_t n;
};

/* ---- the socket ---- */

static void address(const struct st_listener *l, const char *name, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(out->sun_path, sizeof(out->sun_path), "/proc/self/fd/%d/%s", l->dirfd, name);
}

/* Names that listeners of ours left behind when they were killed. */
static void remove_stale(const struct st_listener *l)
{
    int copy = openat(l->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_dir dir = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;

    if (!dir)
        st_close(&copy);
    while (dir && (entry = readdir(dir))) {
        st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un addr;

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 || strlen(entry->d_name) > 60)
            continue;
        address(l, entry->d_name, &addr);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 && errno == ECONNREFUSED)
            unlinkat(l->dirfd, entry->d_name, 0);
    }
}

/* Bound under a name that monitors do not look at, and renamed once it listens: none comes too early. */
static int open_socket(struct st_listener *l, int64_t gid, struct st_error *err)
{
    struct sockaddr_un addr;
    char hidden[64];
    int rc;

    snprintf(l->name, sizeof(l->name), PREFIX "%d.sock", (int)getpid());
    snprintf(hidden, sizeof(hidden), ".%d.new", (int)getpid());
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return st_fail_errno(err, "socket");
    unlinkat(l->dirfd, hidden, 0);
    address(l, hidden, &addr);
    if (bind(l->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        return st_fail_errno(err, "make a socket in " ST_BUS_DIR);
    /* The monitors are root without its privileges; who else could come this far is in the control group. */
    if (fchmodat(l->dirfd, hidden, gid >= 0 ? 0666 : 0600, 0) == 0 && listen(l->fd, 128) == 0 &&
        renameat(l->dirfd, hidden, l->dirfd, l->name) == 0)
        return 0;
    rc = st_fail_errno(err, "listen in " ST_BUS_DIR);
    unlinkat(l->dirfd, hidden, 0);
    return rc;
}

int st_listener_open(const char *state_dir, int64_t gid, struct st_listener **out, struct st_error *err)
{
    st_auto_listener l = st_xcalloc(1, sizeof(*l));

    l->fd = -1;
    l->dirfd = st_busdir_open(state_dir, gid, err);
    if (l->dirfd < 0)
        return -err->errnum;
    remove_stale(l);
    if (open_socket(l, gid, err) < 0) {
        l->name[0] = '\0';
        return -err->errnum;
    }
    *out = st_steal_ptr(&l);
    return 0;
}

static void free_speaker(struct speaker *s)
{
    st_close(&s->public.fd);
    st_buf_free(&s->in);
    free(s);
}

void st_listener_hide(const struct st_listener *l)
{
    if (l->dirfd >= 0 && l->name[0])
        unlinkat(l->dirfd, l->name, 0);
}

void st_listener_close(struct st_listener *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++)
        free_speaker(l->list[i]);
    free(l->list);
    st_listener_hide(l);
    st_close(&l->fd);
    st_close(&l->dirfd);
    free(l);
}

void st_listener_closep(struct st_listener **l)
{
    st_listener_close(*l);
    *l = NULL;
}

/* ---- listening ---- */

static void take_speaker(struct st_listener *l, const struct st_listener_calls *calls, void *ctx)
{
    st_auto_fd fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct st_peer peer;
    struct speaker *s;

    if (fd < 0 || l->n >= SPEAKERS_MAX || !st_peer_is_welcome(fd, -1, &peer))
        return;
    s = st_xcalloc(1, sizeof(*s));
    s->public = (struct st_speaker){.fd = st_steal_fd(&fd), .pid = peer.pid};
    l->list = st_xrealloc(l->list, (l->n + 1) * sizeof(*l->list));
    l->list[l->n++] = s;
    calls->joined(ctx, &s->public);
}

/* false: it has left. */
static bool hear(struct speaker *s, const struct st_listener_calls *calls, void *ctx)
{
    char bytes[65536];
    ssize_t n = recv(s->public.fd, bytes, sizeof(bytes), 0);
    size_t from = 0, seen = s->in.len;
    const char *newline;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    st_buf_add(&s->in, bytes, (size_t)n);
    while ((newline = memchr(s->in.data + seen, '\n', s->in.len - seen))) {
        size_t end = (size_t)(newline - s->in.data);

        calls->line(ctx, &s->public, (struct st_str){.p = s->in.data + from, .len = end - from});
        from = seen = end + 1;
    }
    memmove(s->in.data, s->in.data + from, s->in.len - from);
    s->in.len -= from;
    return s->in.len <= LINE_MAX_BYTES;
}

static void hear_all(struct st_listener *l, const struct pollfd *polled,
                     const struct st_listener_calls *calls, void *ctx)
{
    size_t kept = 0, n = l->n;

    for (size_t i = 0; i < n; i++) {
        struct speaker *s = l->list[i];

        if (!polled[i].revents || hear(s, calls, ctx)) {
            l->list[kept++] = s;
        } else {
            calls->left(ctx, &s->public);
            free_speaker(s);
        }
    }
    l->n = kept;
}

static int listen_on(struct st_listener *l, int stop_fd, const struct st_listener_calls *calls, void *ctx,
                     struct st_error *err)
{
    st_auto_free struct pollfd *fds = NULL;
    int rc = 0;

    while (rc == 0) {
        fds = st_xrealloc(fds, (l->n + 2) * sizeof(*fds));
        for (size_t i = 0; i < l->n; i++)
            fds[i] = (struct pollfd){.fd = l->list[i]->public.fd, .events = POLLIN};
        fds[l->n] = (struct pollfd){.fd = l->fd, .events = POLLIN};
        fds[l->n + 1] = (struct pollfd){.fd = stop_fd, .events = POLLIN};
        if (poll(fds, l->n + 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            return st_fail_errno(err, "poll");
        }
        if (fds[l->n + 1].revents)
            return 0;
        bool knocks = fds[l->n].revents != 0;

        hear_all(l, fds, calls, ctx);
        if (knocks)
            take_speaker(l, calls, ctx);
        rc = calls->idle(ctx);
    }
    return 0;
}

int st_listener_run(struct st_listener *l, int stop_fd, const struct st_listener_calls *calls, void *ctx,
                    struct st_error *err)
{
    int rc = listen_on(l, stop_fd, calls, ctx, err);

    while (l->n) {
        calls->left(ctx, &l->list[l->n - 1]->public);
        free_speaker(l->list[--l->n]);
    }
    return rc;
}
