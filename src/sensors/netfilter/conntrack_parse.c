/* What the kernel says about a flow. By our own hand: libnetfilter_conntrack ends the process where a message
 * is not as it expects. */
#include "sensors/netfilter/attrs.h"
#include "sensors/netfilter/conntrack.h"

#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>

static struct st_addr addr_of(const struct st_attrs *ip, unsigned four, unsigned six)
{
    const void *bytes = st_attrs_bytes(ip, four, 4, NULL);

    if (bytes)
        return st_addr_from4(bytes);
    bytes = st_attrs_bytes(ip, six, 16, NULL);
    return bytes ? st_addr_from6(bytes) : (struct st_addr){0};
}

/* One direction's addresses, and what its protocol tells flows apart by. */
struct tuple {
    struct st_attrs ip, proto;
};

static bool take_tuple(const struct st_attrs *a, unsigned type, struct tuple *out)
{
    struct st_attrs both;

    return st_attrs_nested(a, type, &both) && st_attrs_nested(&both, CTA_TUPLE_IP, &out->ip) &&
           st_attrs_nested(&both, CTA_TUPLE_PROTO, &out->proto) && out->proto.of[CTA_PROTO_NUM];
}

static void take_ends(const struct tuple *t, struct st_ct_flow *out)
{
    out->protocol = st_attrs_u8(&t->proto, CTA_PROTO_NUM);
    out->src = addr_of(&t->ip, CTA_IP_V4_SRC, CTA_IP_V6_SRC);
    out->dst = addr_of(&t->ip, CTA_IP_V4_DST, CTA_IP_V6_DST);
    if (out->protocol == IPPROTO_ICMP) {
        out->icmp_type = st_attrs_u8(&t->proto, CTA_PROTO_ICMP_TYPE);
        out->icmp_code = st_attrs_u8(&t->proto, CTA_PROTO_ICMP_CODE);
        out->icmp_id = st_attrs_be16(&t->proto, CTA_PROTO_ICMP_ID);
    } else if (out->protocol == IPPROTO_ICMPV6) {
        out->icmp_type = st_attrs_u8(&t->proto, CTA_PROTO_ICMPV6_TYPE);
        out->icmp_code = st_attrs_u8(&t->proto, CTA_PROTO_ICMPV6_CODE);
        out->icmp_id = st_attrs_be16(&t->proto, CTA_PROTO_ICMPV6_ID);
    } else {
        out->src_port = st_attrs_be16(&t->proto, CTA_PROTO_SRC_PORT);
        out->dst_port = st_attrs_be16(&t->proto, CTA_PROTO_DST_PORT);
    }
}

static void take_counters(const struct st_attrs *a, unsigned type, uint64_t *bytes, uint64_t *packets)
{
    struct st_attrs counters;

    st_attrs_nested(a, type, &counters);
    *bytes = st_attrs_be64(&counters, CTA_COUNTERS_BYTES, UINT64_MAX);
    *packets = st_attrs_be64(&counters, CTA_COUNTERS_PACKETS, UINT64_MAX);
}

bool st_conntrack_parse(const void *message, size_t n, struct st_ct_flow *out)
{
    const struct nlmsghdr *h = message;
    struct st_attrs a, times;
    struct tuple t;
    int type;

    if (!st_attrs_read(h, n, sizeof(struct nfgenmsg), &a) || h->nlmsg_type >> 8 != NFNL_SUBSYS_CTNETLINK)
        return false;
    type = h->nlmsg_type & 0xff;
    if ((type != IPCTNL_MSG_CT_NEW && type != IPCTNL_MSG_CT_DELETE) || !take_tuple(&a, CTA_TUPLE_ORIG, &t))
        return false;
    *out = (struct st_ct_flow){.ended = type == IPCTNL_MSG_CT_DELETE,
                               .id = st_attrs_be32(&a, CTA_ID),
                               .mark = st_attrs_be32(&a, CTA_MARK)};
    take_ends(&t, out);
    if (take_tuple(&a, CTA_TUPLE_REPLY, &t)) {
        out->reply_src = addr_of(&t.ip, CTA_IP_V4_SRC, CTA_IP_V6_SRC);
        out->reply_src_port = st_attrs_be16(&t.proto, CTA_PROTO_SRC_PORT);
    }
    take_counters(&a, CTA_COUNTERS_ORIG, &out->bytes[0], &out->packets[0]);
    take_counters(&a, CTA_COUNTERS_REPLY, &out->bytes[1], &out->packets[1]);
    st_attrs_nested(&a, CTA_TIMESTAMP, &times);
    out->start_ns = (int64_t)st_attrs_be64(&times, CTA_TIMESTAMP_START, 0);
    out->stop_ns = (int64_t)st_attrs_be64(&times, CTA_TIMESTAMP_STOP, 0);
    return out->src.family && out->src.family == out->dst.family;
}
