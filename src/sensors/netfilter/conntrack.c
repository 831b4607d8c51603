#include "sensors/netfilter/conntrack.h"

#include "sensors/netfilter/attrs.h"
#include "sensors/netfilter/nfsock.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <libnetfilter_conntrack/libnetfilter_conntrack.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>

#define GROUP(n) (1U << ((n)-1))

/* ---- switching on ---- */

static struct nlmsghdr *start(void *room, int type, uint16_t flags, uint8_t family)
{
    struct nlmsghdr *h = mnl_nlmsg_put_header(room);
    struct nfgenmsg *g = mnl_nlmsg_put_extra_header(h, sizeof(*g));

    h->nlmsg_type = (uint16_t)(NFNL_SUBSYS_CTNETLINK << 8 | type);
    h->nlmsg_flags = NLM_F_REQUEST | flags;
    h->nlmsg_seq = st_nfsock_seq();
    g->nfgen_family = family;
    g->version = NFNETLINK_V0;
    return h;
}

/* Any question makes the kernel load what it tracks with; the answer does not matter. */
static int load_module(struct st_error *err)
{
    _Alignas(struct nlmsghdr) char room[64];
    st_auto_fd fd = st_nfsock_open(0, err);
    struct nlmsghdr *h = start(room, IPCTNL_MSG_CT_GET_STATS, 0, AF_UNSPEC);

    if (fd < 0)
        return fd;
    return st_nfsock_send(fd, h, h->nlmsg_len);
}

static int switch_on(const char *path, struct st_error *err)
{
    st_auto_fd fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT && load_module(err) == 0)
        fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "1", 1) != 1)
        return st_fail_errno(err, "%s", path);
    return 0;
}

int st_conntrack_enable(struct st_error *err)
{
    int rc = switch_on("/proc/sys/net/netfilter/nf_conntrack_acct", err);

    return rc < 0 ? rc : switch_on("/proc/sys/net/netfilter/nf_conntrack_timestamp", err);
}

int st_conntrack_open(struct st_error *err)
{
    st_auto_fd fd = st_nfsock_open_groups(NETLINK_NETFILTER,
                                          GROUP(NFNLGRP_CONNTRACK_NEW) | GROUP(NFNLGRP_CONNTRACK_DESTROY),
                                          ST_CONNTRACK_BUFFER, err);

    if (fd < 0)
        return fd;
    if (st_nfsock_turn_on(fd, NETLINK_BROADCAST_ERROR) < 0 || st_nfsock_turn_on(fd, NETLINK_NO_ENOBUFS) < 0)
        return st_fail_errno(err, "socket of flows");
    return st_steal_fd(&fd);
}

int st_conntrack_only(int fd, const struct st_mark_bits *marks, size_t n, struct st_error *err)
{
    struct nfct_filter *filter = nfct_filter_create();
    int rc;

    if (!filter)
        abort();
    for (size_t i = 0; i < n; i++) {
        const struct nfct_filter_dump_mark one = {.val = marks[i].value, .mask = marks[i].mask};

        nfct_filter_add_attr(filter, NFCT_FILTER_MARK, &one);
    }
    rc = nfct_filter_attach(fd, filter);
    nfct_filter_destroy(filter);
    return rc < 0 ? st_fail_errno(err, "socket of flows: a filter") : 0;
}

/* ---- reading ---- */

#define NEWS_SIZE 2048 /* of one; some 200 bytes as a rule */

/* One datagram. */
static unsigned take_news(const char *room, size_t len,
                          void (*each)(void *ctx, const struct st_ct_flow *flow), void *ctx,
                          uint64_t *malformed)
{
    const struct nlmsghdr *h;
    size_t at = 0;
    unsigned given = 0;

    if (len == SIZE_MAX) {
        ++*malformed;
        return 0;
    }
    while ((h = st_nlmsg_next(room, len, &at))) {
        struct st_ct_flow flow;

        if (st_conntrack_parse(h, h->nlmsg_len, &flow)) {
            given++;
            each(ctx, &flow);
        } else
            ++*malformed;
    }
    return given;
}

int st_conntrack_read(int fd, unsigned max, void (*each)(void *ctx, const struct st_ct_flow *flow), void *ctx,
                      uint64_t *malformed)
{
    _Alignas(struct nlmsghdr) char room[ST_NFSOCK_MANY][NEWS_SIZE];
    size_t lens[ST_NFSOCK_MANY];
    uint64_t own = 0;
    unsigned given = 0;
    int got;

    if (!malformed)
        malformed = &own;
    do {
        got = st_nfsock_receive_many(fd, room, sizeof(room[0]), ST_NFSOCK_MANY, lens);
        if (got == -EAGAIN)
            break;
        if (got < 0)
            return got;
        for (int i = 0; i < got; i++)
            given += take_news(room[i], lens[i], each, ctx, malformed);
    } while (given < max && got == ST_NFSOCK_MANY);
    return (int)given;
}

/* ---- asking ---- */

/* One datagram of a dump. 1: it was the last. */
static int take_dump(const char *room, size_t got, uint32_t seq,
                     void (*each)(void *ctx, const struct st_ct_flow *flow), void *ctx, struct st_error *err)
{
    const struct nlmsghdr *h;
    size_t at = 0;

    while ((h = st_nlmsg_next(room, got, &at))) {
        const struct nlmsgerr *e = mnl_nlmsg_get_payload(h);
        struct st_ct_flow flow;

        if (h->nlmsg_seq != seq)
            continue;
        if (h->nlmsg_type == NLMSG_DONE)
            return 1;
        if (h->nlmsg_type == NLMSG_ERROR && mnl_nlmsg_get_payload_len(h) >= sizeof(*e))
            return st_fail(err, -e->error, "flows of the kernel: %s", strerror(-e->error));
        if (st_conntrack_parse(h, h->nlmsg_len, &flow))
            each(ctx, &flow);
    }
    return 0;
}

int st_conntrack_dump(int fd, void (*each)(void *ctx, const struct st_ct_flow *flow), void *ctx,
                      struct st_error *err)
{
    _Alignas(struct nlmsghdr) char room[32768];
    struct nlmsghdr *h = start(room, IPCTNL_MSG_CT_GET, NLM_F_DUMP, AF_UNSPEC);
    uint32_t seq = h->nlmsg_seq;
    int rc = st_nfsock_send(fd, h, h->nlmsg_len);

    if (rc < 0)
        return st_fail(err, -rc, "flows of the kernel: %s", strerror(-rc));
    do {
        struct pollfd wait = {fd, POLLIN, 0};
        ssize_t got = st_nfsock_receive(fd, room, sizeof(room));

        if (got == -EAGAIN) {
            poll(&wait, 1, -1);
            continue;
        }
        if (got < 0)
            return st_fail(err, (int)-got, "flows of the kernel: %s", strerror((int)-got));
        rc = take_dump(room, (size_t)got, seq, each, ctx, err);
    } while (rc == 0);
    return rc < 0 ? rc : 0;
}

static void put_address(struct nf_conntrack *ct, const struct st_addr *addr, bool source)
{
    if (addr->family == 4)
        nfct_set_attr(ct, source ? ATTR_ORIG_IPV4_SRC : ATTR_ORIG_IPV4_DST, addr->bytes);
    else
        nfct_set_attr(ct, source ? ATTR_ORIG_IPV6_SRC : ATTR_ORIG_IPV6_DST, addr->bytes);
}

static void put_tuple(struct nf_conntrack *ct, const struct st_ct_flow *flow)
{
    nfct_set_attr_u8(ct, ATTR_ORIG_L3PROTO, flow->src.family == 4 ? AF_INET : AF_INET6);
    put_address(ct, &flow->src, true);
    put_address(ct, &flow->dst, false);
    nfct_set_attr_u8(ct, ATTR_ORIG_L4PROTO, flow->protocol);
    if (flow->protocol == IPPROTO_ICMP || flow->protocol == IPPROTO_ICMPV6) {
        nfct_set_attr_u8(ct, ATTR_ICMP_TYPE, flow->icmp_type);
        nfct_set_attr_u8(ct, ATTR_ICMP_CODE, flow->icmp_code);
        nfct_set_attr_u16(ct, ATTR_ICMP_ID, htons(flow->icmp_id));
    } else {
        nfct_set_attr_u16(ct, ATTR_ORIG_PORT_SRC, htons(flow->src_port));
        nfct_set_attr_u16(ct, ATTR_ORIG_PORT_DST, htons(flow->dst_port));
    }
}

int st_conntrack_forget(int fd, const struct st_ct_flow *flow, struct st_error *err)
{
    _Alignas(struct nlmsghdr) char room[1024];
    struct nlmsghdr *h =
        start(room, IPCTNL_MSG_CT_DELETE, NLM_F_ACK, flow->src.family == 4 ? AF_INET : AF_INET6);
    struct nf_conntrack *ct = nfct_new();

    if (!ct)
        abort();
    put_tuple(ct, flow);
    nfct_nlmsg_build(h, ct);
    nfct_destroy(ct);
    /* Only this one, and none that began since between the same ends. */
    mnl_attr_put_u32(h, CTA_ID, htonl(flow->id));
    return st_nfsock_batch(fd, h, h->nlmsg_len, h->nlmsg_seq, h->nlmsg_seq, NULL, err);
}
