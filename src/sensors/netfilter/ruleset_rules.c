/* The rules themselves, to be read from top to bottom. */
#include "sensors/netfilter/nflog.h"
#include "sensors/netfilter/nft_rule.h"
#include "sensors/netfilter/ruleset_private.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/netfilter/nf_tables.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define LO 1 /* in every namespace */
#define DNS_PORT 53

/* ---- sets ---- */

/* Types as the program nft numbers them, so that people can list them; it knows none for some. */
#define NFT_TYPE_NFPROTO 2U
#define NFT_TYPE_ADDR4 7U
#define NFT_TYPE_ADDR6 8U
#define NFT_TYPE_PROTOCOL 12U
#define NFT_TYPE_PORT 13U
#define NFT_TYPE_MARK 19U
#define NFT_TYPE_ICMP6 29U
#define AND(a, b) ((a) << 6 | (b))

static const struct st_nft_set sets[] = {
    {ST_SET_ALIVE_A, NFT_TYPE_NFPROTO, 1, true, 0},
    {ST_SET_ALIVE_B, NFT_TYPE_NFPROTO, 1, true, 0},
    {ST_SET_OPEN4, AND(AND(NFT_TYPE_ADDR4, NFT_TYPE_PROTOCOL), NFT_TYPE_PORT), 12, true, ST_RULESET_OPEN_MAX},
    {ST_SET_OPEN6, AND(AND(NFT_TYPE_ADDR6, NFT_TYPE_PROTOCOL), NFT_TYPE_PORT), 24, true, ST_RULESET_OPEN_MAX},
    {"resolver4", NFT_TYPE_ADDR4, 4, false, 0},
    {"resolver6", NFT_TYPE_ADDR6, 16, false, 0},
    {"ack4", AND(NFT_TYPE_PORT, NFT_TYPE_PROTOCOL), 8, false, 0},
    {"ack6", AND(NFT_TYPE_PORT, NFT_TYPE_PROTOCOL), 8, false, 0},
    {"dns_protocols", NFT_TYPE_PROTOCOL, 1, false, 0},
    {"with_ports", NFT_TYPE_PROTOCOL, 1, false, 0},
    {"errors", NFT_TYPE_PROTOCOL, 1, false, 0},
    {"asking", NFT_TYPE_MARK, 4, false, 0},
    {"neighbours", NFT_TYPE_ICMP6, 1, false, 0},
    {"listeners", NFT_TYPE_ICMP6, 1, false, 0},
};

static void fill(struct st_nft_batch *b, const char *set, const void *keys, size_t n, uint32_t len)
{
    const struct st_nft_keys k = {keys, n, len, 0};

    st_nft_keys_put(b, &st_ruleset_inet, set, &k, ST_NFT_ADD);
}

/* {length . header} of TCP segments without data: each part fills a register of 4 bytes. */
static void fill_acks(struct st_nft_batch *b, const char *set, unsigned before)
{
    struct {
        uint16_t length, zero;
        uint8_t header, zeros[3];
    } keys[11];

    memset(keys, 0, sizeof(keys));
    for (unsigned words = 5; words <= 15; words++) {
        keys[words - 5].length = htons((uint16_t)(before + 4 * words));
        keys[words - 5].header = (uint8_t)(words << 4);
    }
    fill(b, set, keys, sizeof(keys) / sizeof(keys[0]), sizeof(keys[0]));
}

static void fill_resolvers(struct st_nft_batch *b, const struct st_ruleset_order *order, uint8_t family,
                           const char *set)
{
    uint8_t keys[ST_RULESET_RESOLVERS * 16];
    uint32_t len = family == 4 ? 4 : 16;
    size_t n = 0;

    for (size_t i = 0; i < order->n_resolvers && n < ST_RULESET_RESOLVERS; i++)
        if (order->resolvers[i].family == family)
            memcpy(keys + len * n++, order->resolvers[i].bytes, len);
    fill(b, set, keys, n, len);
}

void st_ruleset_build_alive(struct st_nft_batch *b, const struct st_ruleset *r, const char *set)
{
    static const uint8_t families[] = {NFPROTO_IPV4, NFPROTO_IPV6};
    const struct st_nft_keys keys = {families, 2, 1, r->dead_man ? ST_RULESET_ALIVE_MS : 0};

    st_nft_keys_put(b, &st_ruleset_inet, set, &keys, ST_NFT_ADD);
}

static void build_sets(struct st_nft_batch *b, const struct st_ruleset *r,
                       const struct st_ruleset_order *order)
{
    static const uint8_t dns[] = {IPPROTO_TCP, IPPROTO_UDP};
    static const uint8_t ported[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDPLITE, IPPROTO_SCTP, IPPROTO_DCCP};
    static const uint8_t errors[] = {IPPROTO_ICMP, IPPROTO_ICMPV6};
    static const uint32_t asking[] = {ST_MARK_NAME, ST_MARK_COUNT};
    static const uint8_t neighbours[] = {133, 135, 136}; /* solicit a router, a neighbour; advertise */
    static const uint8_t listeners[] = {131, 132, 143};  /* of multicast: report, done, report v2 */

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        st_nft_set_add(b, &st_ruleset_inet, &sets[i], (uint32_t)i + 1);
    st_ruleset_build_alive(b, r, ST_SET_ALIVE_A);
    st_ruleset_build_alive(b, r, ST_SET_ALIVE_B);
    fill_resolvers(b, order, 4, "resolver4");
    fill_resolvers(b, order, 6, "resolver6");
    fill_acks(b, "ack4", 20);
    fill_acks(b, "ack6", 0);
    fill(b, "dns_protocols", dns, sizeof(dns), 1);
    fill(b, "with_ports", ported, sizeof(ported), 1);
    fill(b, "errors", errors, sizeof(errors), 1);
    fill(b, "asking", asking, 2, 4);
    fill(b, "neighbours", neighbours, sizeof(neighbours), 1);
    fill(b, "listeners", listeners, sizeof(listeners), 1);
}

/* ---- chains ---- */

static const struct chain {
    const char *name;
    int hook, priority;
    bool closed; /* drops at its end, unless this is an audit */
} chains[] = {
    {"leaving", -1, 0, false},
    {"passing", -1, 0, false},
    {"refused", -1, 0, false},
    {"ours", NF_INET_LOCAL_OUT, -300, false},      /* before flows are tracked */
    {"unmark", NF_INET_LOCAL_OUT, -160, false},    /* behind that */
    {"names_out", NF_INET_LOCAL_OUT, -150, false}, /* before addresses are translated */
    {"output", NF_INET_LOCAL_OUT, 0, true},
    {"output_verdict", NF_INET_LOCAL_OUT, 1, false},
    {"forward", NF_INET_FORWARD, 0, true},
    {"forward_verdict", NF_INET_FORWARD, 1, false},
    {"input", NF_INET_LOCAL_IN, 0, false},
    {"input_verdict", NF_INET_LOCAL_IN, 1, false},
    {"names_in", NF_INET_LOCAL_IN, 150, false}, /* after they are translated back */
    {"stamp", NF_INET_POST_ROUTING, 300, false},
};

/* ---- rules ---- */

#define NEW NF_CT_STATE_BIT(IP_CT_NEW)
#define INVALID NF_CT_STATE_INVALID_BIT
#define RELATED NF_CT_STATE_BIT(IP_CT_RELATED)
#define ESTABLISHED NF_CT_STATE_BIT(IP_CT_ESTABLISHED)
#define ITS_END (1U << IPCT_DESTROY)
#define TO_RESOLVER                                                                                          \
    {ST_L4_IN, .name = "dns_protocols"},                                                                     \
    {                                                                                                        \
        ST_CT_DST_PORT, DNS_PORT                                                                             \
    }
#define MAX_STEPS 10

/* What ST_QUEUE needs is filled in by add_rule(). */
static const struct rule {
    const char *chain;
    struct st_step steps[MAX_STEPS];
    bool enforce; /* not in an audit */
} rules[] = {
    /* What the container's own processes send. A mark that they set (SO_MARK) is worth nothing. Queries are
     * queued where they still bear the address that was asked: a resolver on lo, as docker's, is translated.
     */
    {"unmark", {{ST_SET_MARK, 0}}},
    {"names_out",
     {TO_RESOLVER, {ST_CT_DIRECTION, IP_CT_DIR_ORIGINAL}, {ST_CT_DST4_IN, .name = "resolver4"}, {ST_QUEUE}}},
    {"names_out",
     {TO_RESOLVER, {ST_CT_DIRECTION, IP_CT_DIR_ORIGINAL}, {ST_CT_DST6_IN, .name = "resolver6"}, {ST_QUEUE}}},

    /* Else lo is nobody's business. Then the dead man's switch: one half of it holds while the other is
       renewed. */
    {"output", {{ST_MARK, ST_MARK_REFUSED}, {ST_GOTO, .name = "refused"}}},
    {"output", {{ST_OIF, LO}, {ST_MARK, ST_MARK_DNS}, {ST_SET_CT_MARK, ST_MARK_DNS}, {ST_ACCEPT}}},
    {"output", {{ST_OIF, LO}, {ST_CT_STATE, NEW}, {ST_SET_CT_EVENTS, 0}, {ST_ACCEPT}}},
    {"output", {{ST_OIF, LO}, {ST_ACCEPT}}},
    {"output", {{ST_NFPROTO_IN, .name = ST_SET_ALIVE_A}, {ST_GOTO, .name = "leaving"}}},
    {"output", {{ST_NFPROTO_IN, .name = ST_SET_ALIVE_B}, {ST_GOTO, .name = "leaving"}}},
    {"output", {{ST_DROP}}},

    {"leaving", {{ST_MARK, ST_MARK_DNS}, {ST_SET_CT_MARK, ST_MARK_DNS}, {ST_ACCEPT}}},
    {"leaving", {{ST_CT_MARK, ST_MARK_OPEN}, {ST_ACCEPT}}}, /* as nearly all */
    /* IPv6 does not work without these, and beyond the link they are not heard. To another address than one
     * of the link a router would carry them. */
    {"leaving",
     {{ST_NFPROTO, NFPROTO_IPV6},
      {ST_L4, IPPROTO_ICMPV6},
      {ST_ICMP6_IN, .name = "neighbours"},
      {ST_HOP_LIMIT, 255},
      {ST_DADDR6_TOP, 0xfe80, 0xffc0},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_NFPROTO, NFPROTO_IPV6},
      {ST_L4, IPPROTO_ICMPV6},
      {ST_ICMP6_IN, .name = "neighbours"},
      {ST_HOP_LIMIT, 255},
      {ST_DADDR6_TOP, 0xff02, 0xffff},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_NFPROTO, NFPROTO_IPV6},
      {ST_L4, IPPROTO_ICMPV6},
      {ST_ICMP6_IN, .name = "listeners"},
      {ST_DADDR6_TOP, 0xff02, 0xffff},
      {ST_ACCEPT}}},
    /* Of no flow, or not where its flow is: a server would not take it, and we must not judge by it. */
    {"leaving", {{ST_L4, IPPROTO_TCP}, {ST_CT_STATE, INVALID}, {ST_DROP}}, true},
    {"leaving", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_L4, IPPROTO_TCP}, {ST_RESET}}},
    {"leaving", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_DROP}}},
    /* An error about a flow counts as one of its packets: what is said of it would be said of the flow. */
    {"leaving", {{ST_L4_IN, .name = "errors"}, {ST_CT_STATE, RELATED}, {ST_DROP}}},
    {"leaving",
     {{ST_CT_MARK_IN, .name = "asking"},
      {ST_CT_STATE, ESTABLISHED},
      {ST_L4, IPPROTO_TCP},
      {ST_NFPROTO, NFPROTO_IPV4},
      {ST_NO_DATA4, .name = "ack4"},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_CT_MARK_IN, .name = "asking"},
      {ST_CT_STATE, ESTABLISHED},
      {ST_L4, IPPROTO_TCP},
      {ST_NFPROTO, NFPROTO_IPV6},
      {ST_NO_DATA6, .name = "ack6"},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_CT_STATE, NEW},
      {ST_L4_IN, .name = "with_ports"},
      {ST_NFPROTO, NFPROTO_IPV4},
      {ST_OPEN4, .name = ST_SET_OPEN4},
      {ST_SET_CT_MARK, ST_MARK_OPEN},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_CT_STATE, NEW},
      {ST_L4_IN, .name = "with_ports"},
      {ST_NFPROTO, NFPROTO_IPV6},
      {ST_OPEN6, .name = ST_SET_OPEN6},
      {ST_SET_CT_MARK, ST_MARK_OPEN},
      {ST_ACCEPT}}},
    /* Answers to flows from outside are no exception: they bear the mark of what was said when they came in.
     * A packet socket on lo could pretend such a flow. */
    {"leaving", {{ST_QUEUE}}},

    /* The verdict on what was queued, and on its flow, of whose beginning we need not be told again. */
    {"output_verdict", {{ST_MARK, ST_MARK_REFUSED}, {ST_GOTO, .name = "refused"}}},
    {"output_verdict", {{ST_MARK_ANY}, {ST_SET_CT_FROM_MARK}, {ST_SET_CT_EVENTS, ITS_END}}},
    {"refused", {{ST_SET_CT_MARK, ST_MARK_REFUSED}}},
    {"refused", {{ST_L4, IPPROTO_TCP}, {ST_RESET}}},
    {"refused", {{ST_L4, IPPROTO_UDP}, {ST_UNREACHABLE}}},
    {"refused", {{ST_DROP}}},

    /* What is sent on for others: containers within, or a frame that a packet socket put on lo. */
    {"forward", {{ST_SET_MARK, 0}}},
    {"forward", {{ST_NFPROTO_IN, .name = ST_SET_ALIVE_A}, {ST_GOTO, .name = "passing"}}},
    {"forward", {{ST_NFPROTO_IN, .name = ST_SET_ALIVE_B}, {ST_GOTO, .name = "passing"}}},
    {"forward", {{ST_DROP}}},
    {"passing", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_L4, IPPROTO_TCP}, {ST_RESET}}},
    {"passing", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_DROP}}},
    {"passing", {{ST_CT_MARK, ST_MARK_OPEN}, {ST_ACCEPT}}},
    {"passing", {{ST_L4, IPPROTO_TCP}, {ST_CT_STATE, INVALID}, {ST_DROP}}},
    {"passing", {{ST_L4_IN, .name = "errors"}, {ST_CT_STATE, RELATED}, {ST_DROP}}},
    {"passing", {{ST_QUEUE}}},
    {"forward_verdict", {{ST_MARK, ST_MARK_REFUSED}, {ST_GOTO, .name = "refused"}}},
    {"forward_verdict", {{ST_MARK_ANY}, {ST_SET_CT_FROM_MARK}, {ST_SET_CT_EVENTS, ITS_END}}},

    /* What comes in: answers of resolvers, and new flows. A mark is worth nothing here either, and what is
     * looped back (multicast) sheds its stamp before anybody can read it. By lo a refusal of ours comes, too.
     */
    {"input", {{ST_SET_MARK, 0}, {ST_SET_PRIORITY, 0}}},
    {"input", {{ST_IIF, LO}, {ST_ACCEPT}}},
    {"input", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_DROP}}},
    {"input", {{ST_CT_STATE, NEW}, {ST_QUEUE}}},
    {"input_verdict", {{ST_MARK, ST_MARK_REFUSED}, {ST_SET_CT_MARK, ST_MARK_REFUSED}, {ST_DROP}}},
    {"input_verdict", {{ST_MARK_ANY}, {ST_SET_CT_FROM_MARK}, {ST_SET_CT_EVENTS, ITS_END}}},

    {"names_in", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_ACCEPT}}},
    {"names_in",
     {TO_RESOLVER, {ST_CT_DIRECTION, IP_CT_DIR_REPLY}, {ST_CT_DST4_IN, .name = "resolver4"}, {ST_QUEUE}}},
    {"names_in",
     {TO_RESOLVER, {ST_CT_DIRECTION, IP_CT_DIR_REPLY}, {ST_CT_DST6_IN, .name = "resolver6"}, {ST_QUEUE}}},
    {"names_in",
     {{ST_L4_IN, .name = "dns_protocols"},
      {ST_CT_MARK, ST_MARK_DNS},
      {ST_CT_DIRECTION, IP_CT_DIR_REPLY},
      {ST_QUEUE}}},

    /* For the guards of the devices. */
    {"stamp", {{ST_OIF, LO}, {ST_ACCEPT}}},
};

static void add_rule(struct st_nft_batch *b, const struct st_ruleset *r, const struct rule *rule)
{
    struct st_step steps[MAX_STEPS];
    enum st_need need = ST_NEED_NOTHING;

    memcpy(steps, rule->steps, sizeof(steps));
    for (struct st_step *s = steps; s->is != ST_STEP_END; s++)
        if (s->is == ST_QUEUE) {
            s->value = r->queue;
            s->mask = !r->enforce;
            s->is = r->native_queue ? ST_QUEUE : ST_QUEUE_XT;
            need = ST_NEED_QUEUE;
        }
    st_nft_rule_add(b, &st_ruleset_inet, rule->chain, steps, (uint8_t)need);
}

void st_ruleset_build(struct st_nft_batch *b, const struct st_ruleset *r,
                      const struct st_ruleset_order *order)
{
    const struct rule stamp = {"stamp", {{ST_SET_MARK, r->stamp}, {ST_SET_PRIORITY, r->seal}}, false};
    /* Answers that we make in a resolver's name: as the beginning of a flow they would make all that the
     * container sends there an answer. */
    const struct rule ours = {
        "ours", {{ST_OIF, LO}, {ST_MARK, r->stamp}, {ST_NOT_TRACKED}, {ST_ACCEPT}}, false};

    build_sets(b, r, order);
    for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
        const struct st_nft_chain chain = {chains[i].name, NULL, chains[i].hook, chains[i].priority,
                                           chains[i].closed && r->enforce};

        st_nft_chain_add(b, &st_ruleset_inet, &chain, ST_NEED_NOTHING);
    }
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (r->enforce || !rules[i].enforce)
            add_rule(b, r, &rules[i]);
    add_rule(b, r, &stamp);
    add_rule(b, r, &ours);
}

/* ---- guards ---- */

#define ETHERNET_ARP 42 /* bytes of a frame */
#define LOG_BYTES 256

void st_ruleset_build_guard(struct st_nft_batch *b, const struct st_ruleset *r, const char *device)
{
    /* What is stamped sheds it here: behind us a packet socket may look at it. */
    const struct st_step stamped[] = {{ST_MARK, r->stamp}, {ST_PRIORITY, r->seal},
                                      {ST_SET_MARK, 0},    {ST_SET_PRIORITY, 0},
                                      {ST_ACCEPT},         {ST_STEP_END}};
    const struct st_step arp[] = {{ST_LENGTH, ETHERNET_ARP}, {ST_ARP_FRAME}, {ST_ACCEPT}, {ST_STEP_END}};
    const struct st_step log[] = {{ST_LOG, ST_NFLOG_GROUP, LOG_BYTES}, {ST_STEP_END}};
    const struct st_step drop[] = {{ST_COUNT}, {r->enforce ? ST_DROP : ST_ACCEPT}, {ST_STEP_END}};
    char name[64];
    const struct st_nft_chain chain = {name, device, NF_NETDEV_EGRESS, 0, r->enforce};

    snprintf(name, sizeof(name), "guard_%s", device);
    st_nft_chain_add(b, &st_ruleset_netdev, &chain, ST_NEED_EGRESS);
    st_nft_chain_flush(b, &st_ruleset_netdev, name);
    st_nft_rule_add(b, &st_ruleset_netdev, name, stamped, 0);
    st_nft_rule_add(b, &st_ruleset_netdev, name, arp, 0);
    if (r->log)
        st_nft_rule_add(b, &st_ruleset_netdev, name, log, ST_NEED_LOG);
    st_nft_rule_add(b, &st_ruleset_netdev, name, drop, 0);
}
