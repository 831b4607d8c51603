/* outpost: see outpost.h. */
#include "monitor/outpost.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/confine.h"
#include "sensors/netfilter/links.h"
#include "sensors/netfilter/nfsock.h"
#include "sensors/netfilter/nsid.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CABLES 64 /* whose guards are remembered; of more, each look guards them again */

struct answer {
    int32_t rc;
    uint32_t seq;
    char why[256];
};

union fd_room {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* ---- those who ask ---- */

static int send_request(int fd, struct st_outpost_request *r, int passed)
{
    union fd_room room = {0};
    struct iovec iov = {r, sizeof(*r)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    if (passed >= 0) {
        m.msg_control = room.bytes;
        m.msg_controllen = sizeof(room.bytes);
        *CMSG_FIRSTHDR(&m) = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(passed)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &passed, sizeof(passed));
    }
    while (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}

int st_outpost_ask(int fd, struct st_outpost_request *request, int passed, struct st_error *err)
{
    struct answer a = {0};
    int rc;

    request->seq = (uint32_t)st_now_mono_ns();
    rc = send_request(fd, request, passed);
    if (rc < 0)
        return st_fail(err, -rc, "the fence of the network: %s", strerror(-rc));
    do { /* one that was lost may have asked something before us */
        ssize_t n = recv(fd, &a, sizeof(a), 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)sizeof(a))
            return st_fail(err, EPIPE, "the fence of the network: nobody is there");
    } while (a.seq != request->seq);
    a.why[sizeof(a.why) - 1] = '\0';
    return a.rc < 0 ? st_fail(err, -a.rc, "%s", a.why) : 0;
}

void st_outpost_tell(int fd, enum st_outpost_kind kind)
{
    struct st_outpost_request r = {.kind = kind, .quiet = true};

    if (fd >= 0)
        send_request(fd, &r, -1);
}

/* ---- cables ---- */

struct cable {
    int index; /* 0: none */
    char name[IF_NAMESIZE];
};

struct post {
    int socket;
    int ns;                  /* of the container */
    int rules, links, asked; /* sockets of our own network */
    int nsid;                /* what our network calls the container's */
    bool up;                 /* the fence is */
    struct st_fence fence;
    struct cable cables[CABLES];
    struct st_error failed; /* of the present look */
};

static struct cable *find(struct post *p, int index)
{
    for (size_t i = 0; i < CABLES; i++)
        if (p->cables[i].index == index)
            return &p->cables[i];
    return NULL;
}

static void on_device(void *ctx, const struct st_device *d)
{
    struct post *p = ctx;
    struct cable *c = find(p, d->index);

    if (d->gone) {
        if (c)
            c->index = 0;
        return;
    }
    /* Once guarded, always: the container may have taken its end elsewhere. */
    if (!p->up || (!c && (p->nsid < 0 || d->other_ns != p->nsid)))
        return;
    if (c && strcmp(c->name, d->name) == 0)
        return;
    if (st_fence_guard(&p->fence, d->name, d->index, &p->failed) < 0)
        return;
    c = c ? c : find(p, 0);
    if (c) {
        c->index = d->index;
        memcpy(c->name, d->name, sizeof(c->name));
    }
}

/* Those whose guard is known by their index may have got another name: that is looked at above. */
static int read_devices(struct post *p, struct st_error *err)
{
    int rc = -ENOBUFS;

    for (int i = 0; i < 8 && rc == -ENOBUFS; i++) {
        if (st_links_ask(p->links, err) < 0)
            return -err->errnum;
        rc = st_links_read(p->links, on_device, p);
    }
    return rc < 0 ? st_fail(err, -rc, "devices of the network: %s", strerror(-rc)) : 0;
}

/* The container's namespace has a number once something leads there, and somebody has asked what. */
static int look(struct post *p, struct st_error *err)
{
    p->failed = (struct st_error){0};
    if (p->nsid < 0 && (read_devices(p, err) < 0 || st_nsid_of(p->asked, p->ns, &p->nsid, err) < 0))
        return -err->errnum;
    if (read_devices(p, err) < 0)
        return -err->errnum;
    return p->failed.errnum ? st_fail(err, p->failed.errnum, "%s", p->failed.msg) : 0;
}

/* ---- errands ---- */

static int begin(struct post *p, int passed, struct st_error *err)
{
    if (p->ns >= 0 || passed < 0)
        return st_fail(err, EINVAL, "the fence of the network: no namespace");
    p->ns = passed;
    if ((p->rules = st_nfsock_open(0, err)) < 0 || (p->links = st_links_open(err)) < 0 ||
        (p->asked = st_nsid_open(err)) < 0)
        return -err->errnum;
    return st_confine_outpost(err);
}

static int keep(struct post *p, const struct st_outpost_request *r, struct st_error *err)
{
    struct stat sb;

    if (fstat(p->ns, &sb) < 0)
        return st_fail_errno(err, "the container's network namespace");
    if (st_fence_install(&p->fence, p->rules, sb.st_ino, r->dead_man, err) < 0)
        return -err->errnum;
    p->up = true;
    memset(p->cables, 0, sizeof(p->cables));
    return look(p, err);
}

static int look_for(struct post *p, const struct st_outpost_request *r, struct st_error *err)
{
    const struct cable *c;

    if (look(p, err) < 0)
        return -err->errnum;
    c = r->index > 0 ? find(p, r->index) : NULL;
    return r->index > 0 && !c ? st_fail(err, ENODEV, "its other end was not found") : 0;
}

/* Ours, or what one left who has shared the container's network. */
static int take_away(struct post *p, struct st_error *err)
{
    struct stat sb;

    if (!p->up && fstat(p->ns, &sb) == 0)
        st_fence_adopt(&p->fence, p->rules, sb.st_ino);
    p->up = false;
    return st_fence_remove(&p->fence, err);
}

static int perform(struct post *p, const struct st_outpost_request *r, int passed, struct st_error *err)
{
    if (r->kind == ST_OUTPOST_BEGIN)
        return begin(p, passed, err);
    if (r->kind == ST_OUTPOST_KEEP && p->ns >= 0)
        return keep(p, r, err);
    if (r->kind == ST_OUTPOST_REMOVE && p->ns >= 0)
        return take_away(p, err);
    if (!p->up)
        return st_fail(err, EINVAL, "the fence of the network is not there");
    switch ((enum st_outpost_kind)r->kind) {
    case ST_OUTPOST_LOOK: return look_for(p, r, err);
    case ST_OUTPOST_OPEN: return st_fence_open(&p->fence, &r->addr, r->protocol, r->port, err);
    case ST_OUTPOST_ACCEPT:
        return st_fence_accept(&p->fence, &r->addr, r->protocol, r->port, r->own_port, err);
    case ST_OUTPOST_QUERY: return st_fence_query(&p->fence, &r->query, err);
    case ST_OUTPOST_CLOSE_ALL: return st_fence_close_all(&p->fence, err);
    case ST_OUTPOST_RENEW: return st_fence_renew(&p->fence, err);
    case ST_OUTPOST_CUT: return st_fence_cut(&p->fence, err);
    case ST_OUTPOST_BEGIN:
    case ST_OUTPOST_KEEP:
    case ST_OUTPOST_REMOVE: break;
    }
    return st_fail(err, EINVAL, "the fence of the network: not a request");
}

/* false: nobody is left, or what came is no request. */
static bool serve(struct post *p)
{
    union fd_room room = {0};
    struct st_outpost_request r;
    struct iovec iov = {&r, sizeof(r)};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof(room.bytes)};
    ssize_t n = recvmsg(p->socket, &m, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    struct st_error err = {0};
    struct answer a = {0};
    int passed = -1;

    if (n < 0 && errno == EINTR)
        return true;
    if (n != (ssize_t)sizeof(r))
        return false;
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(passed)))
        memcpy(&passed, CMSG_DATA(c), sizeof(passed));
    if ((r.addr.family != 4 && r.addr.family != 6 && r.addr.family != 0) ||
        (r.query.to.family != 4 && r.query.to.family != 6 && r.query.to.family != 0))
        return false;
    a = (struct answer){.seq = r.seq, .rc = perform(p, &r, passed, &err)};
    if (passed >= 0 && passed != p->ns)
        close(passed);
    snprintf(a.why, sizeof(a.why), "%.255s", err.msg);
    return r.quiet || send(p->socket, &a, sizeof(a), MSG_NOSIGNAL) == (ssize_t)sizeof(a);
}

/* What has changed among the devices of our network. */
static void on_news(struct post *p)
{
    struct st_error err = {0};

    st_links_read(p->links, on_device, p);
    if (p->up)
        look(p, &err); /* a cable whose guard fails is asked about by the worker, too */
}

static void run(int socket_fd)
{
    struct post p = {.socket = socket_fd, .ns = -1, .rules = -1, .links = -1, .asked = -1, .nsid = -1};
    struct st_error err = {0};

    for (;;) {
        struct pollfd fds[] = {{.fd = p.socket, .events = POLLIN}, {.fd = p.links, .events = POLLIN}};

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (fds[1].revents)
            on_news(&p);
        if (fds[0].revents && !serve(&p))
            break;
    }
    if (p.up)
        st_fence_cut(&p.fence, &err);
}

pid_t st_outpost_start(int *fd)
{
    int pair[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    pid = fork();
    if (pid < 0) {
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    if (pid == 0) {
        /* Nothing else of the monitor's is ours. */
        if (dup2(pair[1], STDERR_FILENO + 1) < 0 || close_range(STDERR_FILENO + 2, ~0U, 0) < 0)
            _exit(1);
        run(STDERR_FILENO + 1);
        _exit(0);
    }
    close(pair[1]);
    *fd = pair[0];
    return pid;
}

bool st_outpost_reap(pid_t *pid)
{
    if (*pid <= 0 || waitpid(*pid, NULL, WNOHANG) != *pid)
        return false;
    *pid = 0;
    return true;
}
