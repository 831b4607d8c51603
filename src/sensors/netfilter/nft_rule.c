#include "sensors/netfilter/nft_expr.h"

#include <arpa/inet.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

/* ---- loads ---- */

static void ct_original(struct nftnl_rule *r, uint32_t key)
{
    struct nftnl_expr *e = put(r, "ct");

    nftnl_expr_set_u32(e, NFTNL_EXPR_CT_KEY, key);
    nftnl_expr_set_u8(e, NFTNL_EXPR_CT_DIR, IP_CT_DIR_ORIGINAL);
    nftnl_expr_set_u32(e, NFTNL_EXPR_CT_DREG, REG);
}

/* ---- questions about what was loaded ---- */

static void compare(struct nftnl_rule *r, uint32_t how, const void *data, uint32_t len)
{
    struct nftnl_expr *e = put(r, "cmp");

    nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_SREG, REG);
    nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_OP, how);
    nftnl_expr_set(e, NFTNL_EXPR_CMP_DATA, data, len);
}

static void is8(struct nftnl_rule *r, uint32_t value)
{
    uint8_t byte = (uint8_t)value;

    compare(r, NFT_CMP_EQ, &byte, sizeof(byte));
}

static void is_be16(struct nftnl_rule *r, uint32_t value)
{
    uint16_t number = htons((uint16_t)value);

    compare(r, NFT_CMP_EQ, &number, sizeof(number));
}

/* As the machine has it. */
static void is32(struct nftnl_rule *r, uint32_t value)
{
    compare(r, NFT_CMP_EQ, &value, sizeof(value));
}

static void in(struct nftnl_rule *r, const char *set)
{
    struct nftnl_expr *e = put(r, "lookup");

    nftnl_expr_set_u32(e, NFTNL_EXPR_LOOKUP_SREG, REG);
    nftnl_expr_set_str(e, NFTNL_EXPR_LOOKUP_SET, set);
}

/* ---- questions of several steps ---- */

static void open_set(struct nftnl_rule *r, bool six, const char *set)
{
    payload(r, NFT_PAYLOAD_NETWORK_HEADER, six ? 24 : 16, six ? 16 : 4, REG);
    meta(r, NFT_META_L4PROTO, REG_AT(six ? 4 : 1));
    payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2, REG_AT(six ? 5 : 2));
    in(r, set);
}

static void no_data(struct nftnl_rule *r, bool six, const char *set)
{
    const uint8_t upper = 0xf0;

    /* A header without options, of IPv6 without others behind it: the length says it all. */
    payload(r, NFT_PAYLOAD_NETWORK_HEADER, six ? 6 : 0, 1, REG);
    is8(r, six ? IPPROTO_TCP : 0x45);
    payload(r, NFT_PAYLOAD_NETWORK_HEADER, six ? 4 : 2, 2, REG);
    payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, 12, 1, REG_AT(1));
    mask(r, REG_AT(1), &upper, sizeof(upper));
    in(r, set);
}

static void top6(struct nftnl_rule *r, uint32_t value, uint32_t bits)
{
    uint16_t of = htons((uint16_t)bits);

    payload(r, NFT_PAYLOAD_NETWORK_HEADER, 24, 2, REG);
    mask(r, REG, &of, sizeof(of));
    is_be16(r, value);
}

static void arp_frame(struct nftnl_rule *r)
{
    /* What the frame itself says, for its sender chooses what the kernel takes it for: ARP, for Ethernet, of
     * IPv4, with addresses of 6 and 4 bytes. */
    static const uint8_t head[8] = {0x08, 0x06, 0x00, 0x01, 0x08, 0x00, 0x06, 0x04};

    payload(r, NFT_PAYLOAD_LL_HEADER, 12, sizeof(head), REG);
    compare(r, NFT_CMP_EQ, head, sizeof(head));
}

static void state(struct nftnl_rule *r, uint32_t bits)
{
    const uint32_t none = 0;

    ct(r, NFT_CT_STATE);
    mask(r, REG, &bits, sizeof(bits));
    compare(r, NFT_CMP_NEQ, &none, sizeof(none));
}

/* Of the control group at this level, of whoever made the socket: a packet without one is in none. */
static void in_group(struct nftnl_rule *r, uint32_t level, uint64_t id)
{
    struct nftnl_expr *e = put(r, "socket");

    nftnl_expr_set_u32(e, NFTNL_EXPR_SOCKET_KEY, NFT_SOCKET_CGROUPV2);
    nftnl_expr_set_u32(e, NFTNL_EXPR_SOCKET_LEVEL, level);
    nftnl_expr_set_u32(e, NFTNL_EXPR_SOCKET_DREG, REG);
    compare(r, NFT_CMP_EQ, &id, sizeof(id));
}

static void mark_any(struct nftnl_rule *r)
{
    const uint32_t none = 0;

    meta(r, NFT_META_MARK, REG);
    compare(r, NFT_CMP_NEQ, &none, sizeof(none));
}

static void oif_not(struct nftnl_rule *r, uint32_t index)
{
    meta(r, NFT_META_OIF, REG);
    compare(r, NFT_CMP_NEQ, &index, sizeof(index));
}

/* ---- those of a fence ---- */

static void ethertype(struct nftnl_rule *r, uint32_t value)
{
    payload(r, NFT_PAYLOAD_LL_HEADER, 12, 2, REG);
    is_be16(r, value);
}

static void dst_port(struct nftnl_rule *r, uint32_t value)
{
    payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2, REG);
    is_be16(r, value);
}

static void tcp_begins(struct nftnl_rule *r)
{
    const uint8_t both = 0x12; /* SYN, ACK */

    payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, 13, 1, REG);
    mask(r, REG, &both, sizeof(both));
    is8(r, 0x02);
}

static void bare(struct nftnl_rule *r, bool six, const char *set)
{
    payload(r, NFT_PAYLOAD_NETWORK_HEADER, six ? 24 : 16, six ? 16 : 4, REG);
    payload(r, NFT_PAYLOAD_NETWORK_HEADER, six ? 6 : 9, 1, REG_AT(six ? 4 : 1));
    in(r, set);
}

/* The other end, the protocol, its port, ours. */
static void far_end(struct nftnl_rule *r, bool six, bool leaving)
{
    uint32_t after = six ? 4 : 1, addr = leaving ? (six ? 24 : 16) : (six ? 8 : 12);

    payload(r, NFT_PAYLOAD_NETWORK_HEADER, addr, six ? 16 : 4, REG);
    meta(r, NFT_META_L4PROTO, REG_AT(after));
    payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, leaving ? 2 : 0, 2, REG_AT(after + 1));
    payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, leaving ? 0 : 2, 2, REG_AT(after + 2));
}

/* Nothing but these bytes: its lengths are those of the headers and the message. */
static void query(struct nftnl_rule *r, bool six, uint32_t len, const char *set)
{
    static const uint8_t zero[8];
    uint32_t after = six ? 4 : 1;

    payload(r, NFT_PAYLOAD_NETWORK_HEADER, six ? 4 : 2, 2, REG);
    is_be16(r, (six ? 0 : 20) + 8 + len);
    payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, 4, 2, REG);
    is_be16(r, 8 + len);
    for (uint32_t i = 0; i * ST_QUERY_PIECE < len; i++) {
        uint32_t rest = len - i * ST_QUERY_PIECE, number = ST_QUERY_NUMBER(len, i);

        /* Registers that a short piece leaves as they were. */
        for (uint32_t at = 0; at < ST_QUERY_PIECE; at += sizeof(zero))
            fill(r, REG_AT(after + 2) + at / 4, zero, sizeof(zero));
        payload(r, NFT_PAYLOAD_NETWORK_HEADER, six ? 24 : 16, six ? 16 : 4, REG);
        payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, 8, 2, REG_AT(after));
        fill(r, REG_AT(after + 1), &number, sizeof(number));
        payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, 8 + i * ST_QUERY_PIECE,
                rest < ST_QUERY_PIECE ? rest : ST_QUERY_PIECE, REG_AT(after + 2));
        in(r, set);
    }
}

/* ---- rows ---- */

enum load { LOAD_META, LOAD_CT, LOAD_CT_ORIGINAL, LOAD_NETWORK_BYTE, LOAD_TRANSPORT_BYTE };
enum compare { COMPARE_NOT, COMPARE_8, COMPARE_BE16, COMPARE_32, COMPARE_SET };

/* Questions of one load and one comparison. */
static const struct question {
    enum load load;
    uint32_t key; /* or offset */
    enum compare compare;
} questions[] = {
    [ST_NFPROTO] = {LOAD_META, NFT_META_NFPROTO, COMPARE_8},
    [ST_NFPROTO_IN] = {LOAD_META, NFT_META_NFPROTO, COMPARE_SET},
    [ST_L4] = {LOAD_META, NFT_META_L4PROTO, COMPARE_8},
    [ST_L4_IN] = {LOAD_META, NFT_META_L4PROTO, COMPARE_SET},
    [ST_OIF] = {LOAD_META, NFT_META_OIF, COMPARE_32},
    [ST_IIF] = {LOAD_META, NFT_META_IIF, COMPARE_32},
    [ST_MARK] = {LOAD_META, NFT_META_MARK, COMPARE_32},
    [ST_PRIORITY] = {LOAD_META, NFT_META_PRIORITY, COMPARE_32},
    [ST_LENGTH] = {LOAD_META, NFT_META_LEN, COMPARE_32},
    [ST_HOP_LIMIT] = {LOAD_NETWORK_BYTE, 7, COMPARE_8},
    [ST_PROTOCOL_IN] = {LOAD_META, NFT_META_PROTOCOL, COMPARE_SET},
    [ST_IP4_HEAD] = {LOAD_NETWORK_BYTE, 0, COMPARE_8},
    [ST_IP6_NEXT_IN] = {LOAD_NETWORK_BYTE, 6, COMPARE_SET},
    [ST_ICMP6_IN] = {LOAD_TRANSPORT_BYTE, 0, COMPARE_SET},
    [ST_CT_MARK] = {LOAD_CT, NFT_CT_MARK, COMPARE_32},
    [ST_CT_MARK_IN] = {LOAD_CT, NFT_CT_MARK, COMPARE_SET},
    [ST_CT_DIRECTION] = {LOAD_CT, NFT_CT_DIRECTION, COMPARE_8},
    [ST_CT_DST4_IN] = {LOAD_CT_ORIGINAL, NFT_CT_DST_IP, COMPARE_SET},
    [ST_CT_DST6_IN] = {LOAD_CT_ORIGINAL, NFT_CT_DST_IP6, COMPARE_SET},
    [ST_CT_DST_PORT] = {LOAD_CT_ORIGINAL, NFT_CT_PROTO_DST, COMPARE_BE16},
    [ST_UNREACHABLE] = {0},
};

static void ask(struct nftnl_rule *r, const struct st_step *s)
{
    const struct question *q = &questions[s->is];

    if (q->compare == COMPARE_NOT)
        return;
    switch (q->load) {
    case LOAD_META: meta(r, q->key, REG); break;
    case LOAD_CT: ct(r, q->key); break;
    case LOAD_CT_ORIGINAL: ct_original(r, q->key); break;
    case LOAD_NETWORK_BYTE: payload(r, NFT_PAYLOAD_NETWORK_HEADER, q->key, 1, REG); break;
    case LOAD_TRANSPORT_BYTE: payload(r, NFT_PAYLOAD_TRANSPORT_HEADER, q->key, 1, REG); break;
    }
    if (s->is == ST_MARK || s->is == ST_CT_MARK || s->is == ST_CT_MARK_IN)
        only(r, s->mask);
    switch (q->compare) {
    case COMPARE_8: is8(r, s->value); break;
    case COMPARE_BE16: is_be16(r, s->value); break;
    case COMPARE_32: is32(r, s->value); break;
    case COMPARE_SET: in(r, s->name); break;
    case COMPARE_NOT: break;
    }
}

static void ask_more(struct nftnl_rule *r, const struct st_step *s)
{
    switch ((int)s->is) {
    case ST_MARK_ANY: mark_any(r); break;
    case ST_OIF_NOT: oif_not(r, s->value); break;
    case ST_DADDR6_TOP: top6(r, s->value, s->mask); break;
    case ST_OPEN4: open_set(r, false, s->name); break;
    case ST_OPEN6: open_set(r, true, s->name); break;
    case ST_NO_DATA4: no_data(r, false, s->name); break;
    case ST_NO_DATA6: no_data(r, true, s->name); break;
    case ST_ARP_FRAME: arp_frame(r); break;
    case ST_GROUP: in_group(r, s->value, s->id); break;
    case ST_CT_STATE: state(r, s->value); break;
    case ST_ETHERTYPE: ethertype(r, s->value); break;
    case ST_DST_PORT: dst_port(r, s->value); break;
    case ST_TCP_BEGINS: tcp_begins(r); break;
    case ST_BARE4: bare(r, false, s->name); break;
    case ST_BARE6: bare(r, true, s->name); break;
    case ST_CALLER4: far_end(r, false, false); break;
    case ST_CALLER6: far_end(r, true, false); break;
    case ST_QUERY4: query(r, false, s->value, s->name); break;
    case ST_QUERY6: query(r, true, s->value, s->name); break;
    case ST_ANSWER4:
    case ST_ANSWER6:
        far_end(r, s->is == ST_ANSWER6, true);
        in(r, s->name);
        break;
    }
}

void st_nft_rule_add(struct st_nft_batch *b, const struct st_nft_place *at, const char *chain,
                     const struct st_step *steps, uint8_t need)
{
    struct nlmsghdr *h = st_nft_message(b, NFT_MSG_NEWRULE, at->family, NLM_F_CREATE | NLM_F_APPEND, need);
    struct nftnl_rule *r = nftnl_rule_alloc();

    if (!r)
        abort();
    nftnl_rule_set_u32(r, NFTNL_RULE_FAMILY, at->family);
    nftnl_rule_set_str(r, NFTNL_RULE_TABLE, at->table);
    nftnl_rule_set_str(r, NFTNL_RULE_CHAIN, chain);
    for (; steps->is != ST_STEP_END; steps++) {
        ask(r, steps);
        ask_more(r, steps);
        st_nft_act(r, steps);
    }
    nftnl_rule_nlmsg_build_payload(h, r);
    nftnl_rule_free(r);
    st_nft_add(b, h);
}
