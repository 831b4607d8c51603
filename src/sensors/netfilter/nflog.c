#include "sensors/netfilter/nflog.h"

#include "sensors/netfilter/attrs.h"
#include "sensors/netfilter/nfsock.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <string.h>

#define NEWS_SIZE 2048 /* of one; some 500 bytes as a rule */
#define COPY_RANGE 256 /* headers, and a little of what they carry */

static int configure(int fd, uint16_t group, uint16_t type, const void *value, size_t n, struct st_error *err)
{
    _Alignas(struct nlmsghdr) char room[128];
    struct nlmsghdr *h = mnl_nlmsg_put_header(room);
    struct nfgenmsg *g = mnl_nlmsg_put_extra_header(h, sizeof(*g));

    h->nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG;
    h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    h->nlmsg_seq = st_nfsock_seq();
    g->nfgen_family = AF_UNSPEC;
    g->version = NFNETLINK_V0;
    g->res_id = htons(group);
    mnl_attr_put(h, type, n, value);
    return st_nfsock_batch(fd, h, h->nlmsg_len, h->nlmsg_seq, h->nlmsg_seq, NULL, err);
}

int st_nflog_bind(int fd, uint16_t group, struct st_error *err)
{
    const struct nfulnl_msg_config_cmd bind = {NFULNL_CFG_CMD_BIND};
    const struct nfulnl_msg_config_mode mode = {htonl(COPY_RANGE), NFULNL_COPY_PACKET, 0};
    const uint32_t at_once = htonl(1);
    const uint16_t numbered = htons(NFULNL_CFG_F_SEQ);

    /* The mode last: with it frames begin to come. */
    if (configure(fd, group, NFULA_CFG_CMD, &bind, sizeof(bind), err) < 0 ||
        configure(fd, group, NFULA_CFG_QTHRESH, &at_once, sizeof(at_once), err) < 0 ||
        configure(fd, group, NFULA_CFG_FLAGS, &numbered, sizeof(numbered), err) < 0 ||
        configure(fd, group, NFULA_CFG_MODE, &mode, sizeof(mode), err) < 0)
        return st_wrap(err, "log group %u", group);
    return 0;
}

bool st_nflog_parse(const void *message, size_t n, struct st_nflog_frame *out)
{
    const struct nlmsghdr *h = message;
    struct nfulnl_msg_packet_hdr head;
    struct st_attrs a;
    const void *told;

    if (!st_attrs_read(h, n, sizeof(struct nfgenmsg), &a) ||
        h->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET))
        return false;
    told = st_attrs_bytes(&a, NFULA_PACKET_HDR, sizeof(head), NULL);
    if (!told)
        return false;
    memcpy(&head, told, sizeof(head));
    *out = (struct st_nflog_frame){
        .seq = st_attrs_be32(&a, NFULA_SEQ),
        .outdev = st_attrs_be32(&a, NFULA_IFINDEX_OUTDEV),
        .uid = a.of[NFULA_UID] ? (int64_t)st_attrs_be32(&a, NFULA_UID) : -1,
        .protocol = ntohs(head.hw_protocol),
    };
    out->bytes = st_attrs_bytes(&a, NFULA_PAYLOAD, 0, &out->len);
    return true;
}

/* One datagram. One that is cut off is missing, which the next number says. */
static unsigned take_frames(const char *room, size_t len,
                            void (*each)(void *ctx, const struct st_nflog_frame *frame), void *ctx)
{
    const struct nlmsghdr *h;
    unsigned given = 0;
    size_t at = 0;

    while (len != SIZE_MAX && (h = st_nlmsg_next(room, len, &at))) {
        struct st_nflog_frame frame;

        if (st_nflog_parse(h, h->nlmsg_len, &frame)) {
            given++;
            each(ctx, &frame);
        }
    }
    return given;
}

int st_nflog_read(int fd, unsigned max, void (*each)(void *ctx, const struct st_nflog_frame *frame),
                  void *ctx)
{
    _Alignas(struct nlmsghdr) char room[ST_NFSOCK_MANY][NEWS_SIZE];
    size_t lens[ST_NFSOCK_MANY];
    unsigned given = 0;
    int got;

    do {
        got = st_nfsock_receive_many(fd, room, sizeof(room[0]), ST_NFSOCK_MANY, lens);
        if (got == -EAGAIN)
            break;
        if (got < 0)
            return got;
        for (int i = 0; i < got; i++)
            given += take_frames(room[i], lens[i], each, ctx);
    } while (given < max && got == ST_NFSOCK_MANY);
    return (int)given;
}
