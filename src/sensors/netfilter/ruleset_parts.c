/* What the rules are made of, whosever packets they are about. */
#include "sensors/netfilter/ruleset_private.h"

#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <string.h>

#define LENGTH_AND_HEADER ST_TYPE_AND(ST_TYPE_PORT, ST_TYPE_PROTOCOL)

static const struct st_nft_set sets[] = {
    {ST_SET_ALIVE_A, ST_TYPE_NFPROTO, 1, true, 0},    {ST_SET_ALIVE_B, ST_TYPE_NFPROTO, 1, true, 0},
    {"resolver4", ST_TYPE_ADDR4, 4, false, 0},        {"resolver6", ST_TYPE_ADDR6, 16, false, 0},
    {"ack4", LENGTH_AND_HEADER, 8, false, 0},         {"ack6", LENGTH_AND_HEADER, 8, false, 0},
    {"dns_protocols", ST_TYPE_PROTOCOL, 1, false, 0}, {"errors", ST_TYPE_PROTOCOL, 1, false, 0},
};

void st_ruleset_put_set(struct st_nft_batch *b, const struct st_ruleset *r, const struct st_nft_set *set,
                        uint32_t id)
{
    const struct st_nft_place at = st_ruleset_inet(r);

    st_nft_set_add(b, &at, set, id);
}

void st_ruleset_fill(struct st_nft_batch *b, const struct st_ruleset *r, const char *set, const void *keys,
                     size_t n, uint32_t len)
{
    const struct st_nft_place at = st_ruleset_inet(r);
    const struct st_nft_keys k = {keys, n, len, 0};

    st_nft_keys_put(b, &at, set, &k, ST_NFT_ADD);
}

/* {length . header} of TCP segments without data: each part fills a register of 4 bytes. */
static void fill_acks(struct st_nft_batch *b, const struct st_ruleset *r, const char *set, unsigned before)
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
    st_ruleset_fill(b, r, set, keys, sizeof(keys) / sizeof(keys[0]), sizeof(keys[0]));
}

static void fill_family(struct st_nft_batch *b, const struct st_ruleset *r,
                        const struct st_ruleset_order *order, uint8_t family, const char *set)
{
    uint8_t keys[ST_RULESET_RESOLVERS * 16];
    uint32_t len = family == 4 ? 4 : 16;
    size_t n = 0;

    for (size_t i = 0; i < order->n_resolvers && n < ST_RULESET_RESOLVERS; i++)
        if (order->resolvers[i].family == family)
            memcpy(keys + len * n++, order->resolvers[i].bytes, len);
    st_ruleset_fill(b, r, set, keys, n, len);
}

void st_ruleset_build_resolvers(struct st_nft_batch *b, const struct st_ruleset *r,
                                const struct st_ruleset_order *order)
{
    fill_family(b, r, order, 4, "resolver4");
    fill_family(b, r, order, 6, "resolver6");
}

void st_ruleset_build_alive(struct st_nft_batch *b, const struct st_ruleset *r, const char *set)
{
    static const uint8_t families[] = {NFPROTO_IPV4, NFPROTO_IPV6};
    const struct st_nft_keys keys = {families, 2, 1, r->dead_man ? ST_RULESET_ALIVE_MS : 0};
    const struct st_nft_place at = st_ruleset_inet(r);

    st_nft_keys_put(b, &at, set, &keys, ST_NFT_ADD);
}

void st_ruleset_put_sets(struct st_nft_batch *b, const struct st_ruleset *r,
                         const struct st_ruleset_order *order)
{
    static const uint8_t dns[] = {IPPROTO_TCP, IPPROTO_UDP};
    static const uint8_t errors[] = {IPPROTO_ICMP, IPPROTO_ICMPV6};

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        st_ruleset_put_set(b, r, &sets[i], (uint32_t)i + 1);
    st_ruleset_build_alive(b, r, ST_SET_ALIVE_A);
    st_ruleset_build_alive(b, r, ST_SET_ALIVE_B);
    st_ruleset_build_resolvers(b, r, order);
    fill_acks(b, r, "ack4", 20);
    fill_acks(b, r, "ack6", 0);
    st_ruleset_fill(b, r, "dns_protocols", dns, sizeof(dns), 1);
    st_ruleset_fill(b, r, "errors", errors, sizeof(errors), 1);
}

void st_ruleset_put_chains(struct st_nft_batch *b, const struct st_ruleset *r,
                           const struct st_ruleset_chain *chains, size_t n)
{
    const struct st_nft_place at = st_ruleset_inet(r);

    for (size_t i = 0; i < n; i++) {
        const struct st_nft_chain chain = {chains[i].name, NULL, chains[i].hook, chains[i].priority,
                                           chains[i].closed && r->enforce};

        st_nft_chain_add(b, &at, &chain, ST_NEED_NOTHING);
    }
}

static void put_rule(struct st_nft_batch *b, const struct st_ruleset *r, const struct st_ruleset_rule *rule)
{
    const struct st_nft_place at = st_ruleset_inet(r);
    struct st_step steps[ST_RULE_STEPS];
    enum st_need need = ST_NEED_NOTHING;

    memcpy(steps, rule->steps, sizeof(steps));
    for (struct st_step *s = steps; s->is != ST_STEP_END; s++)
        if (s->is == ST_QUEUE) {
            s->value = r->queue;
            s->mask = !r->enforce;
            s->is = r->native_queue ? ST_QUEUE : ST_QUEUE_XT;
            need = ST_NEED_QUEUE;
        } else if (s->is == ST_GROUP) {
            s->value = r->group.level;
            s->id = r->group.id;
            need = ST_NEED_GROUP;
        } else if (s->is == ST_LOG) {
            need = ST_NEED_BEGUN;
        }
    if (need == ST_NEED_BEGUN && !r->begun)
        return;
    st_nft_rule_add(b, &at, rule->chain, steps, (uint8_t)need);
}

void st_ruleset_put_rules(struct st_nft_batch *b, const struct st_ruleset *r,
                          const struct st_ruleset_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (r->enforce || !rules[i].enforce)
            put_rule(b, r, &rules[i]);
}
