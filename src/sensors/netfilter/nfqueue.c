#include "sensors/netfilter/nfqueue.h"

#include "sensors/netfilter/attrs.h"
#include "sensors/netfilter/nfsock.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <libnetfilter_queue/libnetfilter_queue.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <string.h>
#include <sys/socket.h>

/* All of a packet, also of one that the card will cut (GSO). */
#define COPY_RANGE 0xffff

static struct nlmsghdr *start(void *room, int type, uint16_t queue)
{
    struct nlmsghdr *h = nfq_nlmsg_put(room, type, queue);

    h->nlmsg_seq = st_nfsock_seq();
    return h;
}

static int ask(int fd, struct nlmsghdr *h, struct st_error *err)
{
    h->nlmsg_flags |= NLM_F_ACK;
    return st_nfsock_batch(fd, h, h->nlmsg_len, h->nlmsg_seq, h->nlmsg_seq, NULL, err);
}

int st_nfqueue_bind(int fd, uint16_t queue, bool fail_open, struct st_error *err)
{
    uint32_t flags = NFQA_CFG_F_GSO | NFQA_CFG_F_UID_GID | (fail_open ? NFQA_CFG_F_FAIL_OPEN : 0);
    _Alignas(struct nlmsghdr) char room[256];
    struct nlmsghdr *h = start(room, NFQNL_MSG_CONFIG, queue);
    int rc;

    if (st_nfsock_turn_on(fd, NETLINK_NO_ENOBUFS) < 0)
        return st_fail_errno(err, "socket of the queue");
    nfq_nlmsg_cfg_put_cmd(h, AF_UNSPEC, NFQNL_CFG_CMD_BIND);
    mnl_attr_put_u32(h, NFQA_CFG_FLAGS, htonl(flags));
    mnl_attr_put_u32(h, NFQA_CFG_MASK, htonl(flags | NFQA_CFG_F_FAIL_OPEN));
    mnl_attr_put_u32(h, NFQA_CFG_QUEUE_MAXLEN, htonl(ST_NFQUEUE_LENGTH));
    if (ask(fd, h, err) < 0)
        return st_wrap(err, "bind queue %u", queue);
    /* From here on packets come, and nobody may read what comes but st_nfqueue_read(): no answer is asked
     * for. Until here, and where this fails, the queue drops them. */
    h = start(room, NFQNL_MSG_CONFIG, queue);
    nfq_nlmsg_cfg_put_params(h, NFQNL_COPY_PACKET, COPY_RANGE);
    rc = st_nfsock_send(fd, h, h->nlmsg_len);
    if (rc < 0)
        return st_fail(err, -rc, "bind queue %u: %s", queue, strerror(-rc));
    return 0;
}

int st_nfqueue_unbind(int fd, uint16_t queue, struct st_error *err)
{
    _Alignas(struct nlmsghdr) char room[128];
    struct nlmsghdr *h = start(room, NFQNL_MSG_CONFIG, queue);

    nfq_nlmsg_cfg_put_cmd(h, AF_UNSPEC, NFQNL_CFG_CMD_UNBIND);
    if (ask(fd, h, err) < 0)
        return st_wrap(err, "unbind queue %u", queue);
    return 0;
}

bool st_nfqueue_parse(const void *message, size_t n, struct st_nfqueue_packet *out)
{
    const struct nlmsghdr *h = message;
    struct nfqnl_msg_packet_hdr head;
    const void *told, *payload;
    struct st_attrs a;
    size_t len = 0;

    if (!st_attrs_read(h, n, sizeof(struct nfgenmsg), &a) ||
        h->nlmsg_type != (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
        return false;
    told = st_attrs_bytes(&a, NFQA_PACKET_HDR, sizeof(head), NULL);
    payload = st_attrs_bytes(&a, NFQA_PAYLOAD, 0, &len);
    if (!told || !payload)
        return false;
    memcpy(&head, told, sizeof(head));
    *out = (struct st_nfqueue_packet){
        .ticket = {ntohl(head.packet_id), st_attrs_be32(&a, NFQA_MARK)},
        .hook = head.hook,
        .indev = st_attrs_be32(&a, NFQA_IFINDEX_INDEV),
        .outdev = st_attrs_be32(&a, NFQA_IFINDEX_OUTDEV),
        .uid = a.of[NFQA_UID] ? (int64_t)st_attrs_be32(&a, NFQA_UID) : -1,
        .checksum_pending = st_attrs_be32(&a, NFQA_SKB_INFO) & NFQA_SKB_CSUMNOTREADY,
        .bundle = st_attrs_be32(&a, NFQA_SKB_INFO) & NFQA_SKB_GSO,
        .whole = !a.of[NFQA_CAP_LEN],
        .bytes = payload,
        .len = len,
    };
    return true;
}

/* One datagram. */
static unsigned take_packets(const char *room, size_t len,
                             void (*each)(void *ctx, const struct st_nfqueue_packet *p), void *ctx,
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
        struct st_nfqueue_packet packet;

        if (h->nlmsg_type == NLMSG_ERROR) /* of a verdict that came too late */
            continue;
        if (st_nfqueue_parse(h, h->nlmsg_len, &packet)) {
            given++;
            each(ctx, &packet);
        } else
            ++*malformed;
    }
    return given;
}

int st_nfqueue_read(int fd, struct st_nfqueue_room *rooms, unsigned n, unsigned max,
                    void (*each)(void *ctx, const struct st_nfqueue_packet *p), void *ctx,
                    uint64_t *malformed)
{
    size_t lens[ST_NFSOCK_MANY];
    uint64_t own = 0;
    unsigned given = 0;
    int got;

    if (!malformed)
        malformed = &own;
    do {
        got = st_nfsock_receive_many(fd, rooms, sizeof(rooms[0]), n, lens);
        if (got == -EAGAIN)
            break;
        if (got == -ENOBUFS)
            ++*malformed;
        else if (got < 0)
            return got;
        for (int i = 0; i < got; i++)
            given += take_packets(rooms[i].bytes, lens[i], each, ctx, malformed);
    } while (given < max && (got < 0 || (unsigned)got == n));
    return (int)given;
}

int st_nfqueue_verdict(int fd, uint16_t queue, uint32_t id, bool accept, uint32_t mark)
{
    _Alignas(struct nlmsghdr) char room[128];
    struct nlmsghdr *h = nfq_nlmsg_put(room, NFQNL_MSG_VERDICT, queue);

    nfq_nlmsg_verdict_put(h, (int)id, accept ? NF_ACCEPT : NF_DROP);
    if (mark)
        nfq_nlmsg_verdict_put_mark(h, mark);
    return st_nfsock_send(fd, h, h->nlmsg_len);
}

int st_nfqueue_replace(int fd, uint16_t queue, uint32_t id, uint32_t mark, const void *bytes, size_t len)
{
    st_auto_free char *room = st_xmalloc(len + 256);
    struct nlmsghdr *h = nfq_nlmsg_put(room, NFQNL_MSG_VERDICT, queue);

    nfq_nlmsg_verdict_put(h, (int)id, NF_ACCEPT);
    if (mark)
        nfq_nlmsg_verdict_put_mark(h, mark);
    mnl_attr_put(h, NFQA_PAYLOAD, len, bytes);
    return st_nfsock_send(fd, h, h->nlmsg_len);
}
