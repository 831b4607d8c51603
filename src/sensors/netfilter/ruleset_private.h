/* ruleset_private: what the rules are (ruleset_rules.c of a namespace, ruleset_group.c of a control group)
 * and what both are made of (ruleset_parts.c), for who installs them (ruleset.c). */
#pragma once

#include "sensors/netfilter/nft_batch.h"
#include "sensors/netfilter/nft_rule.h"
#include "sensors/netfilter/ruleset.h"

#include <netinet/in.h> /* before what the kernel has of the same */

#include <linux/netfilter.h>

/* What a message needs of the kernel. */
enum st_need {
    ST_NEED_NOTHING,
    ST_NEED_TABLE,
    ST_NEED_NETDEV,
    ST_NEED_QUEUE,
    ST_NEED_LOG,
    ST_NEED_BEGUN,
    ST_NEED_EGRESS,
    ST_NEED_GROUP
};

static inline struct st_nft_place st_ruleset_inet(const struct st_ruleset *r)
{
    return (struct st_nft_place){NFPROTO_INET, r->table};
}

static inline struct st_nft_place st_ruleset_netdev(const struct st_ruleset *r)
{
    return (struct st_nft_place){NFPROTO_NETDEV, r->table};
}

/* Sets, chains and rules of the inet table, which is there: of all packets of the namespace, or of a group's.
 */
void st_ruleset_build(struct st_nft_batch *b, const struct st_ruleset *r,
                      const struct st_ruleset_order *order);
void st_ruleset_build_group(struct st_nft_batch *b, const struct st_ruleset *r,
                            const struct st_ruleset_order *order);

/* Chain and rules of one device. */
void st_ruleset_build_guard(struct st_nft_batch *b, const struct st_ruleset *r, const char *device);

/* Those that the order names. */
void st_ruleset_build_resolvers(struct st_nft_batch *b, const struct st_ruleset *r,
                                const struct st_ruleset_order *order);

/* Fills the half of the switch that this names; the other one stays. */
void st_ruleset_build_alive(struct st_nft_batch *b, const struct st_ruleset *r, const char *set);

#define ST_SET_ALIVE_A "alive_a"
#define ST_SET_ALIVE_B "alive_b"
#define ST_SET_OPEN4 "open4"
#define ST_SET_OPEN6 "open6"
#define ST_SET_NAMED4 "named4"
#define ST_SET_NAMED6 "named6"

/* ---- parts ---- */

/* Types as the program nft numbers them, so that people can list them; it knows none for some. */
#define ST_TYPE_NFPROTO 2U
#define ST_TYPE_ADDR4 7U
#define ST_TYPE_ADDR6 8U
#define ST_TYPE_PROTOCOL 12U
#define ST_TYPE_PORT 13U
#define ST_TYPE_MARK 19U
#define ST_TYPE_ICMP6 29U
#define ST_TYPE_AND(a, b) ((a) << 6 | (b))

/* The sets that all rules have, filled: the switch, resolvers, what has no data, protocols. */
void st_ruleset_put_sets(struct st_nft_batch *b, const struct st_ruleset *r,
                         const struct st_ruleset_order *order);
/* One more. id: other than those of the rest. */
void st_ruleset_put_set(struct st_nft_batch *b, const struct st_ruleset *r, const struct st_nft_set *set,
                        uint32_t id);
void st_ruleset_fill(struct st_nft_batch *b, const struct st_ruleset *r, const char *set, const void *keys,
                     size_t n, uint32_t len);

struct st_ruleset_chain {
    const char *name;
    int hook, priority; /* hook -1: others go to it */
    bool closed;        /* drops at its end, unless this is an audit */
};
void st_ruleset_put_chains(struct st_nft_batch *b, const struct st_ruleset *r,
                           const struct st_ruleset_chain *chains, size_t n);

#define ST_RULE_STEPS 12

/* What ST_QUEUE and ST_GROUP need is filled in. */
struct st_ruleset_rule {
    const char *chain;
    struct st_step steps[ST_RULE_STEPS];
    bool enforce; /* not in an audit */
};
void st_ruleset_put_rules(struct st_nft_batch *b, const struct st_ruleset *r,
                          const struct st_ruleset_rule *rules, size_t n);

/* ---- words of the rules ---- */

#define ST_LO 1 /* in every namespace */
#define ST_DNS_PORT 53
#define ST_NEW NF_CT_STATE_BIT(IP_CT_NEW)
#define ST_INVALID NF_CT_STATE_INVALID_BIT
#define ST_RELATED NF_CT_STATE_BIT(IP_CT_RELATED)
#define ST_ESTABLISHED NF_CT_STATE_BIT(IP_CT_ESTABLISHED)
#define ST_TO_RESOLVER                                                                                       \
    {ST_L4_IN, .name = "dns_protocols"},                                                                     \
    {                                                                                                        \
        ST_CT_DST_PORT, ST_DNS_PORT                                                                          \
    }
