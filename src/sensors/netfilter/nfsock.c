#include "sensors/netfilter/nfsock.h"

#include "sensors/netfilter/attrs.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/idle.h"

#include <linux/netlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

int st_nfsock_turn_on(int fd, int option)
{
    int on = 1;

    return setsockopt(fd, SOL_NETLINK, option, &on, sizeof(on));
}

ST_IDLE_CODE int st_nfsock_send(int fd, const void *message, size_t n)
{
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

    while (sendto(fd, message, n, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}

int st_nfsock_open_groups(int protocol, uint32_t groups, int rcvbuf, struct st_error *err)
{
    struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = groups};
    st_auto_fd fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

    if (fd < 0)
        return st_fail_errno(err, "netlink socket");
    if (rcvbuf && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf, sizeof(rcvbuf)) < 0)
        return st_fail_errno(err, "netlink socket: a buffer of %d bytes", rcvbuf);
    /* Short answers with the kernel's reason. */
    if (st_nfsock_turn_on(fd, NETLINK_CAP_ACK) < 0 || st_nfsock_turn_on(fd, NETLINK_EXT_ACK) < 0)
        return st_fail_errno(err, "netlink socket");
    if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0)
        return st_fail_errno(err, "bind netlink socket");
    return st_steal_fd(&fd);
}

int st_nfsock_open(int rcvbuf, struct st_error *err)
{
    return st_nfsock_open_groups(NETLINK_NETFILTER, 0, rcvbuf, err);
}

ST_IDLE_CODE ssize_t st_nfsock_receive(int fd, void *room, size_t size)
{
    for (;;) {
        struct sockaddr_nl from = {0};
        struct iovec part = {room, size};
        struct msghdr m = {.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &part, .msg_iovlen = 1};
        ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (m.msg_namelen != sizeof(from) || from.nl_pid != 0)
            continue;
        if (m.msg_flags & MSG_TRUNC)
            return -EMSGSIZE;
        return n;
    }
}

int st_nfsock_receive_many(int fd, void *room, size_t size, unsigned n, size_t lens[ST_NFSOCK_MANY])
{
    struct sockaddr_nl from[ST_NFSOCK_MANY] = {0};
    struct iovec parts[ST_NFSOCK_MANY];
    struct mmsghdr all[ST_NFSOCK_MANY] = {0};
    int got;

    if (n > ST_NFSOCK_MANY)
        n = ST_NFSOCK_MANY;
    for (unsigned i = 0; i < n; i++) {
        parts[i] = (struct iovec){(char *)room + i * size, size};
        all[i].msg_hdr = (struct msghdr){
            .msg_name = &from[i], .msg_namelen = sizeof(from[i]), .msg_iov = &parts[i], .msg_iovlen = 1};
    }
    do
        got = recvmmsg(fd, all, n, MSG_DONTWAIT, NULL);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    for (int i = 0; i < got; i++) {
        const struct msghdr *m = &all[i].msg_hdr;

        lens[i] = m->msg_namelen != sizeof(from[i]) || from[i].nl_pid != 0 ? 0
                  : m->msg_flags & MSG_TRUNC                               ? SIZE_MAX
                                                                           : all[i].msg_len;
    }
    return got;
}

/* What the kernel adds in words to a refusal. */
static void take_reason(const struct nlmsghdr *h, struct st_nfsock_refusal *refusal)
{
    struct st_attrs a;
    const char *words;
    size_t n = 0;

    if (!(h->nlmsg_flags & NLM_F_ACK_TLVS) || !(h->nlmsg_flags & NLM_F_CAPPED) ||
        !st_attrs_read(h, h->nlmsg_len, sizeof(struct nlmsgerr), &a))
        return;
    words = st_attrs_bytes(&a, NLMSGERR_ATTR_MSG, 0, &n);
    if (words)
        snprintf(refusal->why, sizeof(refusal->why), "%.*s", (int)n, words);
}

ST_IDLE_CODE static void take_answers(const void *room, size_t n, uint32_t first, uint32_t last,
                                      struct st_nfsock_refusal *refusal, bool *done)
{
    const struct nlmsghdr *h;
    size_t at = 0;

    while ((h = st_nlmsg_next(room, n, &at))) {
        const struct nlmsgerr *e = (const void *)((const char *)h + NLMSG_HDRLEN);

        if (h->nlmsg_type != NLMSG_ERROR || NLMSG_PAYLOAD(h, 0) < sizeof(*e) ||
            h->nlmsg_seq - first > last - first)
            continue;
        if (e->error == 0) {
            *done |= h->nlmsg_seq == last;
            continue;
        }
        if (refusal->errnum && h->nlmsg_seq - first >= refusal->seq - first)
            continue;
        *refusal =
            (struct st_nfsock_refusal){.errnum = e->error < 0 ? -e->error : EPROTO, .seq = h->nlmsg_seq};
        take_reason(h, refusal);
    }
}

ST_IDLE_CODE int st_nfsock_batch(int fd, const void *batch, size_t len, uint32_t first, uint32_t last,
                                 struct st_nfsock_refusal *refusal, struct st_error *err)
{
    struct st_nfsock_refusal own;
    _Alignas(struct nlmsghdr) char room[8192];
    bool done = false;
    int rc;

    if (!refusal)
        refusal = &own;
    *refusal = (struct st_nfsock_refusal){0};
    rc = st_nfsock_send(fd, batch, len);
    if (rc < 0)
        return st_fail(err, -rc, "send to netfilter: %s", strerror(-rc));
    /* To the end: a batch that failed has answers for its good parts too. */
    for (;;) {
        ssize_t n = st_nfsock_receive(fd, room, sizeof(room));

        if (n == -EAGAIN)
            break;
        if (n == -ENOBUFS || n == -EMSGSIZE)
            continue;
        if (n < 0)
            return st_fail(err, (int)-n, "read from netfilter: %s", strerror((int)-n));
        take_answers(room, (size_t)n, first, last, refusal, &done);
    }
    if (refusal->errnum)
        return st_fail(err, refusal->errnum, "netfilter refuses: %s%s%s", strerror(refusal->errnum),
                       refusal->why[0] ? ": " : "", refusal->why);
    return done ? 0 : st_fail(err, ENODATA, "netfilter does not answer");
}

ST_IDLE_CODE uint32_t st_nfsock_seq(void)
{
    return (uint32_t)getpid() << 20 ^ (uint32_t)st_now_mono_ns();
}
