/* The rules of a fence themselves, to be read from top to bottom. */
#include "sensors/netfilter/fence_private.h"
#include "sensors/netfilter/nft_rule.h"
#include "sensors/netfilter/ruleset.h"

#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdio.h>
#include <string.h>

/* Before what others have at the device; a program of tc or XDP there still comes first. */
#define PRIORITY (-500)
#define ARP_BYTES 28    /* of IPv4 over Ethernet, as this hook counts */
#define CALLED_MS 30000 /* who comes in and gets no answer is forgotten */
#define DNS_PORT 53

/* ---- sets ---- */

/* Types as the program nft numbers them, so that people can list them. */
#define NFT_TYPE_INTEGER 4U
#define NFT_TYPE_ADDR4 7U
#define NFT_TYPE_ADDR6 8U
#define NFT_TYPE_ETHERTYPE 10U
#define NFT_TYPE_PROTOCOL 12U
#define NFT_TYPE_PORT 13U
#define NFT_TYPE_ICMP6 29U
#define AND(a, b) ((a) << 6 | (b))
#define CALL(addr) AND(AND(AND(addr, NFT_TYPE_PROTOCOL), NFT_TYPE_PORT), NFT_TYPE_PORT)
#define PIECE (8 + ST_QUERY_PIECE)
#define MANY ST_RULESET_OPEN_MAX

static const struct st_nft_set sets[] = {
    {ST_FENCE_ALIVE_A, NFT_TYPE_ETHERTYPE, 2, true, 0},
    {ST_FENCE_ALIVE_B, NFT_TYPE_ETHERTYPE, 2, true, 0},
    {ST_FENCE_OUT4, AND(AND(NFT_TYPE_ADDR4, NFT_TYPE_PROTOCOL), NFT_TYPE_PORT), 12, true, MANY},
    {ST_FENCE_OUT6, AND(AND(NFT_TYPE_ADDR6, NFT_TYPE_PROTOCOL), NFT_TYPE_PORT), 24, true, MANY},
    {ST_FENCE_BARE4, AND(NFT_TYPE_ADDR4, NFT_TYPE_PROTOCOL), 8, true, MANY},
    {ST_FENCE_BARE6, AND(NFT_TYPE_ADDR6, NFT_TYPE_PROTOCOL), 20, true, MANY},
    {ST_FENCE_IN4, CALL(NFT_TYPE_ADDR4), 16, true, MANY},
    {ST_FENCE_IN6, CALL(NFT_TYPE_ADDR6), 28, true, MANY},
    {ST_FENCE_SEEN4, CALL(NFT_TYPE_ADDR4), 16, true, MANY},
    {ST_FENCE_SEEN6, CALL(NFT_TYPE_ADDR6), 28, true, MANY},
    {ST_FENCE_QUERY4, NFT_TYPE_INTEGER, 4 + PIECE, true, 0},
    {ST_FENCE_QUERY6, NFT_TYPE_INTEGER, 16 + PIECE, true, 0},
    {"with_ports", NFT_TYPE_PROTOCOL, 1, false, 0},
    {"datagrams", NFT_TYPE_PROTOCOL, 1, false, 0},
    {"only_udp", NFT_TYPE_PROTOCOL, 1, false, 0},
    {"neighbours", NFT_TYPE_ICMP6, 1, false, 0},
    {"listeners", NFT_TYPE_ICMP6, 1, false, 0},
};

static void fill(struct st_nft_batch *b, const struct st_fence *f, const char *set, const void *keys,
                 size_t n)
{
    const struct st_nft_place at = st_fence_place(f);
    const struct st_nft_keys k = {keys, n, 1, 0};

    st_nft_keys_put(b, &at, set, &k, ST_NFT_ADD);
}

void st_fence_build_alive(struct st_nft_batch *b, const struct st_fence *f, const char *set)
{
    static const uint8_t kinds[] = {0x08, 0x00, 0x86, 0xdd, 0x08, 0x06};
    const struct st_nft_place at = st_fence_place(f);
    const struct st_nft_keys keys = {kinds, 3, 2, f->dead_man ? ST_RULESET_ALIVE_MS : 0};

    st_nft_keys_put(b, &at, set, &keys, ST_NFT_ADD);
}

static void build_sets(struct st_nft_batch *b, const struct st_fence *f)
{
    static const uint8_t ported[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDPLITE, IPPROTO_SCTP, IPPROTO_DCCP};
    static const uint8_t neighbours[] = {133, 135, 136}; /* solicit a router, a neighbour; advertise */
    static const uint8_t listeners[] = {131, 132, 143};  /* of multicast: report, done, report v2 */
    const struct st_nft_place at = st_fence_place(f);

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        st_nft_set_add(b, &at, &sets[i], (uint32_t)i + 1);
    st_fence_build_alive(b, f, ST_FENCE_ALIVE_A);
    st_fence_build_alive(b, f, ST_FENCE_ALIVE_B);
    fill(b, f, "with_ports", ported, sizeof(ported));
    fill(b, f, "datagrams", ported + 1, sizeof(ported) - 1);
    fill(b, f, "only_udp", ported + 1, 1);
    fill(b, f, "neighbours", neighbours, sizeof(neighbours));
    fill(b, f, "listeners", listeners, sizeof(listeners));
}

/* ---- rules ---- */

#define MAX_STEPS 10
/* What the frame itself says: one with a tag of a VLAN is none of these, though the kernel takes it for IP. A
 * header of IPv4 has no options, of IPv6 no other header behind it: neither names another way. */
#define PLAIN4                                                                                               \
    {ST_ETHERTYPE, ETH_P_IP},                                                                                \
    {                                                                                                        \
        ST_IP4_HEAD, 0x45                                                                                    \
    }
#define PLAIN6(protocols)                                                                                    \
    {ST_ETHERTYPE, ETH_P_IPV6},                                                                              \
    {                                                                                                        \
        ST_IP6_NEXT_IN, .name = protocols                                                                    \
    }

static const struct rule {
    const char *chain;
    struct st_step steps[MAX_STEPS];
} rules[] = {
    /* Without these nothing works, and beyond the link they are not heard. */
    {"leaving", {{ST_LENGTH, ARP_BYTES}, {ST_ARP_FRAME}, {ST_ACCEPT}}},
    {"leaving",
     {{ST_ETHERTYPE, ETH_P_IPV6},
      {ST_L4, IPPROTO_ICMPV6},
      {ST_ICMP6_IN, .name = "neighbours"},
      {ST_HOP_LIMIT, 255},
      {ST_DADDR6_TOP, 0xfe80, 0xffc0},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_ETHERTYPE, ETH_P_IPV6},
      {ST_L4, IPPROTO_ICMPV6},
      {ST_ICMP6_IN, .name = "neighbours"},
      {ST_HOP_LIMIT, 255},
      {ST_DADDR6_TOP, 0xff02, 0xffff},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_ETHERTYPE, ETH_P_IPV6},
      {ST_L4, IPPROTO_ICMPV6},
      {ST_ICMP6_IN, .name = "listeners"},
      {ST_DADDR6_TOP, 0xff02, 0xffff},
      {ST_ACCEPT}}},

    /* What was allowed within. */
    {"leaving",
     {PLAIN4,
      {ST_L4_IN, .name = "with_ports"},
      {ST_OPEN4, .name = ST_FENCE_OUT4},
      {ST_RENEW, ST_FENCE_DAY_MS, .name = ST_FENCE_OUT4},
      {ST_ACCEPT}}},
    {"leaving",
     {PLAIN6("with_ports"),
      {ST_OPEN6, .name = ST_FENCE_OUT6},
      {ST_RENEW, ST_FENCE_DAY_MS, .name = ST_FENCE_OUT6},
      {ST_ACCEPT}}},
    {"leaving",
     {PLAIN4,
      {ST_BARE4, .name = ST_FENCE_BARE4},
      {ST_RENEW, ST_FENCE_DAY_MS, .name = ST_FENCE_BARE4},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_ETHERTYPE, ETH_P_IPV6},
      {ST_BARE6, .name = ST_FENCE_BARE6},
      {ST_RENEW, ST_FENCE_DAY_MS, .name = ST_FENCE_BARE6},
      {ST_ACCEPT}}},

    /* Answers to who was allowed in, and has indeed come this way: within, a caller can be pretended. */
    {"leaving",
     {PLAIN4,
      {ST_L4_IN, .name = "with_ports"},
      {ST_ANSWER4, .name = ST_FENCE_IN4},
      {ST_RENEW, ST_FENCE_DAY_MS, .name = ST_FENCE_IN4},
      {ST_ANSWER4, .name = ST_FENCE_SEEN4},
      {ST_RENEW, ST_FENCE_DAY_MS, .name = ST_FENCE_SEEN4},
      {ST_ACCEPT}}},
    {"leaving",
     {PLAIN6("with_ports"),
      {ST_ANSWER6, .name = ST_FENCE_IN6},
      {ST_RENEW, ST_FENCE_DAY_MS, .name = ST_FENCE_IN6},
      {ST_ANSWER6, .name = ST_FENCE_SEEN6},
      {ST_RENEW, ST_FENCE_DAY_MS, .name = ST_FENCE_SEEN6},
      {ST_ACCEPT}}},

    /* Names: the very message that was judged. */
    {"leaving", {PLAIN4, {ST_L4, IPPROTO_UDP}, {ST_DST_PORT, DNS_PORT}, {ST_GOTO, .name = ST_FENCE_QUERY4}}},
    {"leaving", {PLAIN6("only_udp"), {ST_DST_PORT, DNS_PORT}, {ST_GOTO, .name = ST_FENCE_QUERY6}}},

    /* Who comes in. Of TCP only the beginning tells: answers to the container are no callers. */
    {"coming", {PLAIN4, {ST_L4, IPPROTO_TCP}, {ST_TCP_BEGINS}, {ST_GOTO, .name = "called4"}}},
    {"coming", {PLAIN4, {ST_L4_IN, .name = "datagrams"}, {ST_GOTO, .name = "called4"}}},
    {"coming",
     {{ST_ETHERTYPE, ETH_P_IPV6}, {ST_L4, IPPROTO_TCP}, {ST_TCP_BEGINS}, {ST_GOTO, .name = "called6"}}},
    {"coming", {{ST_ETHERTYPE, ETH_P_IPV6}, {ST_L4_IN, .name = "datagrams"}, {ST_GOTO, .name = "called6"}}},
    {"called4", {{ST_CALLER4}, {ST_REMEMBER, CALLED_MS, .name = ST_FENCE_SEEN4}}},
    {"called6", {{ST_CALLER6}, {ST_REMEMBER, CALLED_MS, .name = ST_FENCE_SEEN6}}},
};

void st_fence_build(struct st_nft_batch *b, const struct st_fence *f)
{
    static const char *const chains[] = {"leaving", "coming",        "called4",
                                         "called6", ST_FENCE_QUERY4, ST_FENCE_QUERY6};
    const struct st_nft_place at = st_fence_place(f);

    build_sets(b, f);
    for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
        const struct st_nft_chain chain = {chains[i], NULL, -1, 0, false};

        st_nft_chain_add(b, &at, &chain, 0);
    }
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        st_nft_rule_add(b, &at, rules[i].chain, rules[i].steps, 0);
}

void st_fence_build_guard(struct st_nft_batch *b, const struct st_fence *f, const char *device, int index)
{
    static const struct st_step a[] = {
        {ST_PROTOCOL_IN, .name = ST_FENCE_ALIVE_A}, {ST_GOTO, .name = "leaving"}, {ST_STEP_END}};
    static const struct st_step other[] = {
        {ST_PROTOCOL_IN, .name = ST_FENCE_ALIVE_B}, {ST_GOTO, .name = "leaving"}, {ST_STEP_END}};
    static const struct st_step coming[] = {{ST_GOTO, .name = "coming"}, {ST_STEP_END}};
    const struct st_nft_place at = st_fence_place(f);
    char from[64], to[64];
    const struct st_nft_chain closed = {from, device, NF_NETDEV_INGRESS, PRIORITY, true};
    const struct st_nft_chain noting = {to, device, NF_NETDEV_EGRESS, PRIORITY, false};

    /* By its name as well: where a device is renamed, the kernel lets go of the chain. */
    snprintf(from, sizeof(from), "from_%d_%s", index, device);
    snprintf(to, sizeof(to), "to_%d_%s", index, device);
    st_nft_chain_add(b, &at, &closed, 0);
    st_nft_chain_flush(b, &at, from);
    st_nft_rule_add(b, &at, from, a, 0);
    st_nft_rule_add(b, &at, from, other, 0);
    st_nft_chain_add(b, &at, &noting, 0);
    st_nft_chain_flush(b, &at, to);
    st_nft_rule_add(b, &at, to, coming, 0);
}

void st_fence_build_query(struct st_nft_batch *b, const struct st_fence *f, bool six, size_t len)
{
    const char *name = six ? ST_FENCE_QUERY6 : ST_FENCE_QUERY4;
    const struct st_step steps[] = {
        {six ? ST_QUERY6 : ST_QUERY4, (uint32_t)len, .name = name}, {ST_ACCEPT}, {ST_STEP_END}};
    const struct st_nft_place at = st_fence_place(f);

    st_nft_rule_add(b, &at, name, steps, 0);
}
