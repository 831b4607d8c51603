/* sock_end: see sock_end.h. A listing is made while it is read; what is to end is noted, and ended when it is
 * over. */
#include "sensors/sock_end.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define AT_ONCE 128 /* sockets that end, and then they are listed again */
#define ROUNDS 512
#define UNFINISHED                                                                                           \
    (1U << TCP_ESTABLISHED | 1U << TCP_FIN_WAIT1 | 1U << TCP_CLOSE_WAIT | 1U << TCP_LAST_ACK |               \
     1U << TCP_CLOSING | 1U << TCP_FIN_WAIT2)

struct request {
    struct nlmsghdr head;
    struct inet_diag_req_v2 req;
};

struct search {
    uint64_t group;
    bool (*spare)(void *ctx, const struct st_flow_tuple *flow);
    void *ctx;
    struct inet_diag_sockid found[AT_ONCE];
    size_t n;
};

int st_sock_end_open(struct st_error *err)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);

    return fd < 0 ? st_fail_errno(err, "socket of sock_diag") : fd;
}

static int ask(int fd, int family, uint16_t type, uint16_t flags, const struct inet_diag_sockid *id)
{
    struct request r = {
        .head = {.nlmsg_len = sizeof(r), .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | flags},
        .req = {.sdiag_family = (uint8_t)family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = UNFINISHED}};

    if (id)
        r.req.id = *id;
    return send(fd, &r, sizeof(r), 0) == (ssize_t)sizeof(r) ? 0 : -errno;
}

/* ---- which ---- */

static uint64_t group_of(const struct nlmsghdr *h)
{
    const struct inet_diag_msg *m = (const void *)(h + 1);
    const char *at = (const char *)(m + 1);
    size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof(*m));
    uint64_t group = 0;

    while (left >= sizeof(struct rtattr)) {
        struct rtattr a;

        memcpy(&a, at, sizeof(a));
        if (a.rta_len < sizeof(a) || a.rta_len > left)
            break;
        if (a.rta_type == INET_DIAG_CGROUP_ID && a.rta_len == RTA_LENGTH(sizeof(group)))
            memcpy(&group, at + RTA_LENGTH(0), sizeof(group));
        if (RTA_ALIGN(a.rta_len) > left)
            break;
        at += RTA_ALIGN(a.rta_len);
        left -= RTA_ALIGN(a.rta_len);
    }
    return group;
}

/* A socket of IPv6 may speak IPv4. */
static void take_address(const uint32_t words[4], int family, struct st_addr *out)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    uint8_t bytes[16];

    memcpy(bytes, words, sizeof(bytes));
    *out = (struct st_addr){.family = 6};
    if (family == AF_INET || memcmp(bytes, mapped, sizeof(mapped)) == 0) {
        out->family = 4;
        memcpy(out->bytes, family == AF_INET ? bytes : bytes + 12, 4);
        return;
    }
    memcpy(out->bytes, bytes, sizeof(bytes));
}

static void consider(struct search *s, const struct nlmsghdr *h)
{
    const struct inet_diag_msg *m = (const void *)(h + 1);
    struct st_flow_tuple flow = {.protocol = IPPROTO_TCP};

    if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)) ||
        m->idiag_inode != 0 || s->n == AT_ONCE || group_of(h) != s->group)
        return;
    take_address(m->id.idiag_src, m->idiag_family, &flow.src);
    take_address(m->id.idiag_dst, m->idiag_family, &flow.dst);
    flow.src_port = ntohs(m->id.idiag_sport);
    flow.dst_port = ntohs(m->id.idiag_dport);
    if (!s->spare || !s->spare(s->ctx, &flow))
        s->found[s->n++] = m->id;
}

/* 1: there is more; 0: that was all. */
static int read_part(struct search *s, const char *bytes, size_t n)
{
    while (n >= sizeof(struct nlmsghdr)) {
        const struct nlmsghdr *h = (const void *)bytes;
        size_t len = NLMSG_ALIGN(h->nlmsg_len);

        if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > n)
            return -EBADMSG;
        if (h->nlmsg_type == NLMSG_DONE)
            return 0;
        if (h->nlmsg_type == NLMSG_ERROR)
            return -EOPNOTSUPP;
        consider(s, h);
        bytes += len;
        n -= len < n ? len : n;
    }
    return 1;
}

static int list(struct search *s, int fd, int family)
{
    _Alignas(struct nlmsghdr) char bytes[16384];
    int rc = ask(fd, family, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, NULL);

    if (rc < 0)
        return rc;
    do {
        ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

        if (n < 0)
            return -errno;
        rc = read_part(s, bytes, (size_t)n);
    } while (rc > 0);
    return rc;
}

int st_sock_end(int fd, uint64_t group, bool (*spare)(void *ctx, const struct st_flow_tuple *flow), void *ctx)
{
    static const int families[] = {AF_INET, AF_INET6};
    int ended = 0;

    for (size_t i = 0; i < 2; i++)
        for (int round = 0; round < ROUNDS; round++) {
            struct search s = {.group = group, .spare = spare, .ctx = ctx};
            int rc = list(&s, fd, families[i]);

            if (rc < 0)
                return rc;
            for (size_t k = 0; k < s.n; k++)
                ended += ask(fd, families[i], SOCK_DESTROY, 0, &s.found[k]) == 0;
            if (s.n < AT_ONCE)
                break;
        }
    return ended;
}
