/* notify: see notify.h. */
#include "sensors/notify.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "sensors/notify_socket.h"
#include "sensors/process.h"
#include "sensors/runtime_copy.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define STATE_MAX ((size_t)4 << 20) /* of what a runtime says along with the fd */
#define FILTERS_MAX 4096
#define TURN 32 /* questions of one filter before others have theirs */

/* Something that epoll watches: a connection of a runtime, later the filter that it brought. */
struct source {
    struct source *next, **link;
    int connection; /* -1: done with */
    pid_t runtime;  /* who connected */
    int brought;    /* fd that came along; -1: none yet */
    struct st_buf said;
    struct st_filter *filter; /* NULL: still being told of it */
};

struct st_notify {
    int epfd, listener;
    char *path;
    st_notify_taker take;
    void *ctx;
    struct source *first;
    struct source *eager; /* whose task asked last; NULL: it is gone */
    size_t n;
    dev_t memory_dev;          /* of files that are in memory only */
    struct st_filter expected; /* its pid and program only; pid 0: none is */
    struct seccomp_notif_sizes sizes;
    struct seccomp_notif *asked; /* as large as the kernel wants it */
};

/* ---- filters ---- */

bool st_filter_sets_up(struct st_filter *f, pid_t leader)
{
    struct stat sb;

    /* crun's exec names no process: then it is the first that asks. */
    if (f->setup && !f->pid)
        f->pid = leader;
    if (!f->setup || leader != f->pid)
        return false;
    if (st_program_stat(leader, &sb) && sb.st_dev == f->dev && sb.st_ino == f->ino)
        return true;
    f->setup = false;
    return false;
}

bool st_filter_sets_up_by(struct st_filter *f, pid_t tid)
{
    char task[64];
    struct stat sb;

    if (!f->setup || !f->pid)
        return false;
    snprintf(task, sizeof(task), "/proc/%d/task/%d", (int)f->pid, (int)tid);
    return stat(task, &sb) == 0 && st_filter_sets_up(f, f->pid);
}

/* ---- sources ---- */

/* Closing alone does not end it: epoll goes by the open file, of which somebody else may have an fd (a
 * process that was just forked and has not closed its own yet, a runtime). It would go on to name a source
 * that is freed. */
static void unwatch(struct st_notify *n, int fd)
{
    if (fd >= 0)
        epoll_ctl(n->epfd, EPOLL_CTL_DEL, fd, NULL);
}

static void drop(struct st_notify *n, struct source *s)
{
    unwatch(n, s->connection);
    if (s->filter)
        unwatch(n, s->filter->fd);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    if (n->eager == s)
        n->eager = NULL;
    n->n--;
    if (s->filter)
        st_close(&s->filter->fd); /* who holds a question of it finds nobody waiting */
    st_filter_unref(s->filter);
    st_close(&s->connection);
    st_close(&s->brought);
    st_buf_free(&s->said);
    free(s);
}

static int watch(struct st_notify *n, int fd, void *what)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = what};

    return epoll_ctl(n->epfd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

/* false: nobody waits. */
static bool accept_one(struct st_notify *n)
{
    st_auto_fd fd = accept4(n->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t len = sizeof(peer);
    struct source *s;

    if (fd < 0)
        return errno == EINTR;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.uid != 0 || n->n >= FILTERS_MAX)
        return true;
    s = st_xcalloc(1, sizeof(*s));
    s->connection = st_steal_fd(&fd);
    s->brought = -1;
    s->runtime = peer.pid;
    s->next = n->first;
    s->link = &n->first;
    if (s->next)
        s->next->link = &s->next;
    n->first = s;
    n->n++;
    if (watch(n, s->connection, s) < 0)
        drop(n, s);
    return true;
}

/* Keep the first fd that comes, close all others. */
static void keep_fds(struct source *s, struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (s->brought < 0)
                s->brought = fd;
            else
                close(fd);
        }
    }
}

/* Is that all, and which process does it speak of? 0: it does not say. Some end it with a newline or a NUL.
 */
static bool has_said(const struct st_buf *said, pid_t *pid)
{
    st_auto_json doc = NULL;
    size_t len = said->len;
    int64_t n;

    while (len > 0 && (said->data[len - 1] == '\0' || said->data[len - 1] == '\n'))
        len--;
    if (len == 0 || said->data[len - 1] != '}' ||
        st_json_parse(said->data, len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return false;
    *pid = st_json_int(st_json_get(st_json_root(doc), "pid"), &n) && n > 0 && n <= INT32_MAX ? (pid_t)n : 0;
    return true;
}

/* 1: more may come; 0: all was said; negative: no good. A runtime need not hang up when it has said all: runc
 * does so when it ends. */
static int listen_to(struct source *s, pid_t *pid)
{
    char bytes[16384];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
    struct iovec io = {bytes, sizeof(bytes)};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
    ssize_t got = recvmsg(s->connection, &m, MSG_CMSG_CLOEXEC);
    bool all;

    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 1 : -errno;
    keep_fds(s, &m);
    st_buf_add(&s->said, bytes, (size_t)got);
    all = has_said(&s->said, pid);
    if (got == 0 || all)
        return all && s->brought >= 0 ? 0 : -EPROTO;
    return s->said.len > STATE_MAX ? -EFBIG : 1;
}

static bool is_filter(int fd)
{
    uint64_t none = 0;

    return ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &none) < 0 && errno == ENOENT;
}

/* Who is announced may be a program of the container's by now, if we come late: that is on its way nowhere.
 */
static bool is_runtime(const struct st_notify *n, pid_t pid, pid_t runtime, struct st_filter *f)
{
    struct stat sb, own;

    if (!st_program_stat(pid, &sb))
        return false;
    f->dev = sb.st_dev;
    f->ino = sb.st_ino;
    if (n->expected.pid == pid && n->expected.dev == sb.st_dev && n->expected.ino == sb.st_ino)
        return true; /* as it was before anything of the container's could run; the runtime may have ended */
    return st_program_stat(runtime, &own) && ((sb.st_dev == own.st_dev && sb.st_ino == own.st_ino) ||
                                              st_program_is_copy(pid, &sb, n->memory_dev, runtime));
}

void st_notify_expect(struct st_notify *n, pid_t init)
{
    n->expected.pid = is_runtime(n, init, st_process_parent(init), &n->expected) ? init : 0;
}

static void begin(struct st_notify *n, struct source *s, pid_t pid)
{
    struct st_filter *f;

    if (!is_filter(s->brought)) {
        drop(n, s);
        return;
    }
    f = st_xcalloc(1, sizeof(*f));
    f->refs = 1;
    f->fd = st_steal_fd(&s->brought);
    f->pid = pid;
    f->setup = is_runtime(n, pid ? pid : s->runtime, s->runtime, f);
    s->filter = f;
    st_buf_free(&s->said);
    unwatch(n, s->connection);
    st_close(&s->connection);
    st_filter_wake_quickly(f);
    if (watch(n, f->fd, s) < 0)
        drop(n, s);
}

/* One question of which poll told. That it still waits does not matter: the kernel counts a question until
 * somebody has come for it, and says that it is gone. false: no more for now. */
static bool ask_one(struct st_notify *n, struct source *s)
{
    memset(n->asked, 0, n->sizes.seccomp_notif);
    if (ioctl(s->filter->fd, SECCOMP_IOCTL_NOTIF_RECV, n->asked) < 0)
        return true; /* who asked is gone */
    n->eager = s;
    return n->take(n->ctx, s->filter, n->asked);
}

/* The fd may be the last thing of a filter: on 6.1 asking it for a question may then never return. */
static void ask(struct st_notify *n, struct source *s, uint32_t events)
{
    if (events & (EPOLLHUP | EPOLLERR)) {
        drop(n, s);
        return;
    }
    for (int turn = 0; turn < TURN; turn++) {
        struct pollfd p = {.fd = s->filter->fd, .events = POLLIN};

        if (poll(&p, 1, 0) <= 0 || !(p.revents & POLLIN) || (p.revents & POLLHUP))
            return;
        if (!ask_one(n, s))
            return;
    }
}

int st_notify_eager(const struct st_notify *n)
{
    return n->eager ? n->eager->filter->fd : -1;
}

void st_notify_work_eager(struct st_notify *n, short events)
{
    if (!n->eager)
        return;
    if (events & (POLLHUP | POLLERR | POLLNVAL))
        drop(n, n->eager);
    else if (events & POLLIN)
        ask_one(n, n->eager);
}

static void serve(struct st_notify *n, struct source *s, uint32_t events)
{
    pid_t pid = 0;
    int rc;

    if (s->filter) {
        ask(n, s, events);
        return;
    }
    rc = listen_to(s, &pid);
    if (rc == 0)
        begin(n, s, pid);
    else if (rc < 0)
        drop(n, s);
}

void st_notify_meet(struct st_notify *n)
{
    struct source *next;

    while (accept_one(n))
        continue;
    for (struct source *s = n->first; s; s = next) {
        next = s->next;
        if (!s->filter)
            serve(n, s, 0);
    }
}

void st_notify_work(struct st_notify *n)
{
    struct epoll_event events[16];
    int count = epoll_wait(n->epfd, events, sizeof(events) / sizeof(events[0]), 0);

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr)
            serve(n, events[i].data.ptr, events[i].events);
        else
            accept_one(n);
    }
}

int st_notify_fd(const struct st_notify *n)
{
    return n->epfd;
}

/* ---- opening ---- */

static int open_all(struct st_notify *n, const char *path, int listener, struct st_error *err)
{
    n->memory_dev = st_program_memory();
    if (!n->memory_dev)
        return st_fail_errno(err, "a file in memory");
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &n->sizes) < 0)
        return st_fail_errno(err, "seccomp notifications");
    if (n->sizes.seccomp_notif < sizeof(*n->asked))
        n->sizes.seccomp_notif = sizeof(*n->asked);
    n->asked = st_xcalloc(1, n->sizes.seccomp_notif);
    n->epfd = epoll_create1(EPOLL_CLOEXEC);
    if (n->epfd < 0)
        return st_fail_errno(err, "epoll");
    n->path = st_xstrdup(path);
    n->listener = listener >= 0 ? listener : st_notify_listen(path, err);
    if (n->listener < 0)
        return -err->errnum;
    return watch(n, n->listener, NULL) < 0 ? st_fail(err, EIO, "watch %s", path) : 0;
}

int st_notify_open(const char *path, int listener, st_notify_taker take, void *ctx, struct st_notify **out,
                   struct st_error *err)
{
    struct st_notify *n = st_xcalloc(1, sizeof(*n));

    n->epfd = n->listener = -1;
    n->take = take;
    n->ctx = ctx;
    if (open_all(n, path, listener, err) < 0) {
        st_notify_close(n);
        return -err->errnum;
    }
    *out = n;
    return 0;
}

void st_notify_close(struct st_notify *n)
{
    if (!n)
        return;
    for (struct source *s = n->first, *next; s; s = next) {
        next = s->next;
        drop(n, s);
    }
    st_close(&n->listener);
    st_close(&n->epfd);
    if (n->path)
        unlink(n->path);
    free(n->path);
    free(n->asked);
    free(n);
}
