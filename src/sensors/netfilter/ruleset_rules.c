/* The rules of a namespace that is all ours, to be read from top to bottom. */
#include "sensors/netfilter/nflog.h"
#include "sensors/netfilter/ruleset_private.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/netfilter/nf_tables.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* ---- sets ---- */

/* Besides those that all rules have. */
#define DESTINATION(addr) ST_TYPE_AND(ST_TYPE_AND(addr, ST_TYPE_PROTOCOL), ST_TYPE_PORT)
#define FIRST_ID 100

static const struct st_nft_set sets[] = {
    {ST_SET_OPEN4, DESTINATION(ST_TYPE_ADDR4), 12, true, ST_RULESET_OPEN_MAX},
    {ST_SET_OPEN6, DESTINATION(ST_TYPE_ADDR6), 24, true, ST_RULESET_OPEN_MAX},
    {ST_SET_NAMED4, DESTINATION(ST_TYPE_ADDR4), 12, true, ST_RULESET_OPEN_MAX},
    {ST_SET_NAMED6, DESTINATION(ST_TYPE_ADDR6), 24, true, ST_RULESET_OPEN_MAX},
    {"with_ports", ST_TYPE_PROTOCOL, 1, false, 0},
    {"asking", ST_TYPE_MARK, 4, false, 0},
    {"neighbours", ST_TYPE_ICMP6, 1, false, 0},
    {"listeners", ST_TYPE_ICMP6, 1, false, 0},
};

static void build_sets(struct st_nft_batch *b, const struct st_ruleset *r,
                       const struct st_ruleset_order *order)
{
    static const uint8_t ported[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDPLITE, IPPROTO_SCTP, IPPROTO_DCCP};
    static const uint32_t asking[] = {ST_MARK_NAME, ST_MARK_COUNT};
    static const uint8_t neighbours[] = {133, 135, 136}; /* solicit a router, a neighbour; advertise */
    static const uint8_t listeners[] = {131, 132, 143};  /* of multicast: report, done, report v2 */

    st_ruleset_put_sets(b, r, order);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        st_ruleset_put_set(b, r, &sets[i], FIRST_ID + (uint32_t)i);
    st_ruleset_fill(b, r, "with_ports", ported, sizeof(ported), 1);
    st_ruleset_fill(b, r, "asking", asking, 2, 4);
    st_ruleset_fill(b, r, "neighbours", neighbours, sizeof(neighbours), 1);
    st_ruleset_fill(b, r, "listeners", listeners, sizeof(listeners), 1);
}

/* ---- chains ---- */

static const struct st_ruleset_chain chains[] = {
    {"to_resolver", -1, 0, false},
    {"staying", -1, 0, false},
    {"leaving", -1, 0, false},
    {"passing", -1, 0, false},
    {"said", -1, 0, false},
    {"refused", -1, 0, false},
    {"arrival_said", -1, 0, false},
    {"answering", -1, 0, false},
    {"ours", NF_INET_LOCAL_OUT, -300, false},      /* before flows are tracked */
    {"names_out", NF_INET_LOCAL_OUT, -150, false}, /* behind that, before addresses are translated */
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

#define ITS_END (1U << IPCT_DESTROY)
#define BEGINNING 128 /* bytes: two headers at their longest */

/* The first packet of a connection, without data, of which nothing is decided. */
#define TCP_BEGINS                                                                                           \
    {ST_CT_MARK, 0}, {ST_CT_STATE, ST_NEW}, {ST_L4, IPPROTO_TCP},                                            \
    {                                                                                                        \
        ST_TCP_BEGINS                                                                                        \
    }

/* What is decided leaves each chain by its first rules: a download passes them with every packet. */
static const struct st_ruleset_rule rules[] = {
    /* What the container's own processes send. A mark that they set (SO_MARK) is worth nothing. Queries are
     * queued where they still bear the address that was asked: a resolver on lo, as docker's, is translated.
     */
    {"names_out", {{ST_SET_MARK, 0}}},
    {"names_out", {{ST_CT_DST_PORT, ST_DNS_PORT}, {ST_GOTO, .name = "to_resolver"}}},
    {"to_resolver",
     {ST_TO_RESOLVER,
      {ST_CT_DIRECTION, IP_CT_DIR_ORIGINAL},
      {ST_CT_DST4_IN, .name = "resolver4"},
      {ST_QUEUE}}},
    {"to_resolver",
     {ST_TO_RESOLVER,
      {ST_CT_DIRECTION, IP_CT_DIR_ORIGINAL},
      {ST_CT_DST6_IN, .name = "resolver6"},
      {ST_QUEUE}}},

    /* Else lo is nobody's business. Then the dead man's switch: one half of it holds while the other is
       renewed. */
    {"output", {{ST_OIF, ST_LO}, {ST_GOTO, .name = "staying"}}},
    {"output", {{ST_NFPROTO_IN, .name = ST_SET_ALIVE_A}, {ST_GOTO, .name = "leaving"}}},
    {"output", {{ST_NFPROTO_IN, .name = ST_SET_ALIVE_B}, {ST_GOTO, .name = "leaving"}}},
    {"output", {{ST_DROP}}},

    {"staying", {{ST_MARK, ST_MARK_REFUSED}, {ST_GOTO, .name = "refused"}}},
    {"staying", {{ST_MARK, ST_MARK_DNS}, {ST_SET_CT_MARK, ST_MARK_DNS}, {ST_ACCEPT}}},
    {"staying", {{ST_CT_STATE, ST_NEW}, {ST_SET_CT_EVENTS, 0}, {ST_ACCEPT}}},
    {"staying", {{ST_ACCEPT}}},

    {"leaving", {{ST_MARK, 0}, {ST_CT_MARK, ST_MARK_OPEN}, {ST_ACCEPT}}}, /* as nearly all */
    {"leaving", {{ST_MARK, ST_MARK_REFUSED}, {ST_GOTO, .name = "refused"}}},
    {"leaving", {{ST_MARK, ST_MARK_DNS}, {ST_SET_CT_MARK, ST_MARK_DNS}, {ST_ACCEPT}}},
    {"leaving", {{ST_CT_MARK, ST_MARK_OPEN}, {ST_ACCEPT}}},
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
    {"leaving", {{ST_L4, IPPROTO_TCP}, {ST_CT_STATE, ST_INVALID}, {ST_DROP}}, true},
    {"leaving", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_L4, IPPROTO_TCP}, {ST_RESET}}},
    {"leaving", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_DROP}}},
    /* An error about a flow counts as one of its packets: what is said of it would be said of the flow. */
    {"leaving", {{ST_L4_IN, .name = "errors"}, {ST_CT_STATE, ST_RELATED}, {ST_DROP}}},
    {"leaving",
     {{ST_CT_MARK_IN, .name = "asking"},
      {ST_CT_STATE, ST_ESTABLISHED},
      {ST_L4, IPPROTO_TCP},
      {ST_NFPROTO, NFPROTO_IPV4},
      {ST_NO_DATA4, .name = "ack4"},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_CT_MARK_IN, .name = "asking"},
      {ST_CT_STATE, ST_ESTABLISHED},
      {ST_L4, IPPROTO_TCP},
      {ST_NFPROTO, NFPROTO_IPV6},
      {ST_NO_DATA6, .name = "ack6"},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_CT_STATE, ST_NEW},
      {ST_L4_IN, .name = "with_ports"},
      {ST_NFPROTO, NFPROTO_IPV4},
      {ST_OPEN4, .name = ST_SET_OPEN4},
      {ST_SET_CT_MARK, ST_MARK_OPEN},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_CT_STATE, ST_NEW},
      {ST_L4_IN, .name = "with_ports"},
      {ST_NFPROTO, NFPROTO_IPV6},
      {ST_OPEN6, .name = ST_SET_OPEN6},
      {ST_SET_CT_MARK, ST_MARK_OPEN},
      {ST_ACCEPT}}},
    /* Of what goes by a name only data are asked about. Where it begins is told: without that number nobody
     * could say which byte is the first. A second beginning is asked about. */
    {"leaving",
     {TCP_BEGINS,
      {ST_NFPROTO, NFPROTO_IPV4},
      {ST_NO_DATA4, .name = "ack4"},
      {ST_OPEN4, .name = ST_SET_NAMED4},
      {ST_LOG, ST_NFLOG_BEGUN, BEGINNING},
      {ST_SET_CT_MARK, ST_MARK_NAME},
      {ST_SET_CT_EVENTS, ITS_END},
      {ST_ACCEPT}}},
    {"leaving",
     {TCP_BEGINS,
      {ST_NFPROTO, NFPROTO_IPV6},
      {ST_NO_DATA6, .name = "ack6"},
      {ST_OPEN6, .name = ST_SET_NAMED6},
      {ST_LOG, ST_NFLOG_BEGUN, BEGINNING},
      {ST_SET_CT_MARK, ST_MARK_NAME},
      {ST_SET_CT_EVENTS, ITS_END},
      {ST_ACCEPT}}},
    /* Answers to flows from outside are no exception: they bear the mark of what was said when they came in.
     * A packet socket on lo could pretend such a flow. */
    {"leaving", {{ST_QUEUE}}},

    /* The verdict on what was queued, and on its flow, of whose beginning we need not be told again. */
    {"output_verdict", {{ST_MARK_ANY}, {ST_GOTO, .name = "said"}}},
    {"said", {{ST_MARK, ST_MARK_REFUSED}, {ST_GOTO, .name = "refused"}}},
    {"said", {{ST_SET_CT_FROM_MARK}, {ST_SET_CT_EVENTS, ITS_END}}},
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
    {"passing", {{ST_L4, IPPROTO_TCP}, {ST_CT_STATE, ST_INVALID}, {ST_DROP}}},
    {"passing", {{ST_L4_IN, .name = "errors"}, {ST_CT_STATE, ST_RELATED}, {ST_DROP}}},
    {"passing", {{ST_QUEUE}}},
    {"forward_verdict", {{ST_MARK_ANY}, {ST_GOTO, .name = "said"}}},

    /* What comes in: answers of resolvers, and new flows. A mark is worth nothing here either, and what is
     * looped back (multicast) sheds its stamp before anybody can read it. By lo a refusal of ours comes, too.
     */
    {"input", {{ST_SET_MARK, 0}, {ST_SET_PRIORITY, 0}}},
    {"input", {{ST_CT_MARK, ST_MARK_OPEN}, {ST_ACCEPT}}},
    {"input", {{ST_IIF, ST_LO}, {ST_ACCEPT}}},
    {"input", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_DROP}}},
    {"input", {{ST_CT_STATE, ST_NEW}, {ST_QUEUE}}},
    {"input_verdict", {{ST_MARK_ANY}, {ST_GOTO, .name = "arrival_said"}}},
    {"arrival_said", {{ST_MARK, ST_MARK_REFUSED}, {ST_SET_CT_MARK, ST_MARK_REFUSED}, {ST_DROP}}},
    {"arrival_said", {{ST_SET_CT_FROM_MARK}, {ST_SET_CT_EVENTS, ITS_END}}},

    {"names_in", {{ST_CT_MARK, ST_MARK_DNS}, {ST_GOTO, .name = "answering"}}},
    {"names_in", {{ST_CT_DST_PORT, ST_DNS_PORT}, {ST_GOTO, .name = "answering"}}},
    {"answering", {{ST_CT_MARK, ST_MARK_REFUSED}, {ST_ACCEPT}}},
    {"answering",
     {ST_TO_RESOLVER, {ST_CT_DIRECTION, IP_CT_DIR_REPLY}, {ST_CT_DST4_IN, .name = "resolver4"}, {ST_QUEUE}}},
    {"answering",
     {ST_TO_RESOLVER, {ST_CT_DIRECTION, IP_CT_DIR_REPLY}, {ST_CT_DST6_IN, .name = "resolver6"}, {ST_QUEUE}}},
    {"answering",
     {{ST_L4_IN, .name = "dns_protocols"},
      {ST_CT_MARK, ST_MARK_DNS},
      {ST_CT_DIRECTION, IP_CT_DIR_REPLY},
      {ST_QUEUE}}},

};

void st_ruleset_build(struct st_nft_batch *b, const struct st_ruleset *r,
                      const struct st_ruleset_order *order)
{
    const struct st_ruleset_rule secret[] = {
        /* For the guards of the devices. */
        {"stamp", {{ST_OIF_NOT, ST_LO}, {ST_SET_MARK, r->stamp}, {ST_SET_PRIORITY, r->seal}}, false},
        /* Answers that we make in a resolver's name: as the beginning of a flow they would make all that the
         * container sends there an answer. */
        {"ours", {{ST_OIF, ST_LO}, {ST_MARK, r->stamp}, {ST_NOT_TRACKED}, {ST_ACCEPT}}, false}};

    build_sets(b, r, order);
    st_ruleset_put_chains(b, r, chains, sizeof(chains) / sizeof(chains[0]));
    st_ruleset_put_rules(b, r, rules, sizeof(rules) / sizeof(rules[0]));
    st_ruleset_put_rules(b, r, secret, sizeof(secret) / sizeof(secret[0]));
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
    const struct st_nft_place at = st_ruleset_netdev(r);
    char name[64];
    const struct st_nft_chain chain = {name, device, NF_NETDEV_EGRESS, 0, r->enforce};

    snprintf(name, sizeof(name), "guard_%s", device);
    st_nft_chain_add(b, &at, &chain, ST_NEED_EGRESS);
    st_nft_chain_flush(b, &at, name);
    st_nft_rule_add(b, &at, name, stamped, 0);
    st_nft_rule_add(b, &at, name, arp, 0);
    if (r->log)
        st_nft_rule_add(b, &at, name, log, ST_NEED_LOG);
    st_nft_rule_add(b, &at, name, drop, 0);
}
