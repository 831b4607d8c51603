/* The rules of one control group in the network of the machine, to be read from top to bottom. What is not of
 * the group leaves each chain by its first rule, which it does not fit: nothing else here may drop, queue or
 * mark. Nothing of lo is the group's own here.
 *
 * Of the marks a few bits are ours, those that others use least; all others are kept. A flow may be between
 * two such groups: what was said to who began it, and what was said to whom it came, stand beside each other.
 * What the queue says of a packet goes from the packet's mark to the flow's at once. */
#include "sensors/netfilter/ruleset_private.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/netfilter/nf_tables.h>

#define SHIFT_BEGAN 26
#define SHIFT_CAME 29

/* Value and mask of a step. */
#define BEGAN(mark) (uint32_t)(mark) << SHIFT_BEGAN, 7U << SHIFT_BEGAN
#define CAME(mark) (uint32_t)(mark) << SHIFT_CAME, 7U << SHIFT_CAME
#define SAID(mark) BEGAN(mark) /* of a packet */
#define FORGET_IT                                                                                            \
    {                                                                                                        \
        ST_SET_MARK, SAID(0)                                                                                 \
    }
#define ORIGINAL                                                                                             \
    {                                                                                                        \
        ST_CT_DIRECTION, IP_CT_DIR_ORIGINAL                                                                  \
    }
#define REPLY                                                                                                \
    {                                                                                                        \
        ST_CT_DIRECTION, IP_CT_DIR_REPLY                                                                     \
    }

/* Before addresses are translated: what is judged is whom the program meant, and conntrack calls it so too.
 */
static const struct st_ruleset_chain chains[] = {
    {"out", -1, 0, false},
    {"leaving", -1, 0, false},
    {"answering", -1, 0, false},
    {"said", -1, 0, false},
    {"refused", -1, 0, false},
    {"arriving", -1, 0, false},
    {"taken", -1, 0, false},
    {"answered", -1, 0, false},
    {"ours", NF_INET_LOCAL_OUT, -300, false},
    {"output", NF_INET_LOCAL_OUT, -110, false},
    {"output_verdict", NF_INET_LOCAL_OUT, -109, false},
    {"input", NF_INET_LOCAL_IN, 0, false},
    {"input_verdict", NF_INET_LOCAL_IN, 1, false},
    {"names_in", NF_INET_LOCAL_IN, 150, false},
};

static const struct st_ruleset_rule rules[] = {
    {"output", {{ST_GROUP}, {ST_GOTO, .name = "out"}}},
    {"output_verdict", {{ST_GROUP}, {ST_GOTO, .name = "said"}}},
    {"input", {{ST_GROUP}, {ST_GOTO, .name = "arriving"}}},
    {"input_verdict", {{ST_GROUP}, {ST_GOTO, .name = "taken"}}},
    {"names_in", {{ST_GROUP}, {ST_GOTO, .name = "answered"}}},

    /* What leaves. A mark of its own is worth nothing; then the dead man's switch. */
    {"out", {FORGET_IT}},
    {"out", {{ST_NFPROTO_IN, .name = ST_SET_ALIVE_A}, {ST_GOTO, .name = "leaving"}}},
    {"out", {{ST_NFPROTO_IN, .name = ST_SET_ALIVE_B}, {ST_GOTO, .name = "leaving"}}},
    {"out", {{ST_DROP}}},

    {"leaving", {REPLY, {ST_GOTO, .name = "answering"}}},
    {"leaving", {ST_TO_RESOLVER, {ST_CT_DST4_IN, .name = "resolver4"}, {ST_QUEUE}}},
    {"leaving", {ST_TO_RESOLVER, {ST_CT_DST6_IN, .name = "resolver6"}, {ST_QUEUE}}},
    {"leaving", {{ST_CT_MARK, BEGAN(ST_MARK_OPEN)}, {ST_ACCEPT}}},
    {"leaving", {{ST_L4, IPPROTO_TCP}, {ST_CT_STATE, ST_INVALID}, {ST_DROP}}, true},
    {"leaving", {{ST_CT_MARK, BEGAN(ST_MARK_REFUSED)}, {ST_L4, IPPROTO_TCP}, {ST_RESET}}},
    {"leaving", {{ST_CT_MARK, BEGAN(ST_MARK_REFUSED)}, {ST_DROP}}},
    {"leaving", {{ST_L4_IN, .name = "errors"}, {ST_CT_STATE, ST_RELATED}, {ST_DROP}}},
    {"leaving",
     {{ST_CT_MARK_IN, BEGAN(0), .name = "asking"},
      {ST_CT_STATE, ST_ESTABLISHED},
      {ST_L4, IPPROTO_TCP},
      {ST_NFPROTO, NFPROTO_IPV4},
      {ST_NO_DATA4, .name = "ack4"},
      {ST_ACCEPT}}},
    {"leaving",
     {{ST_CT_MARK_IN, BEGAN(0), .name = "asking"},
      {ST_CT_STATE, ST_ESTABLISHED},
      {ST_L4, IPPROTO_TCP},
      {ST_NFPROTO, NFPROTO_IPV6},
      {ST_NO_DATA6, .name = "ack6"},
      {ST_ACCEPT}}},
    {"leaving", {{ST_QUEUE}}},

    /* Answers to flows from elsewhere. Who could answer in a resolver's place would teach us its own names.
     */
    {"answering", {ST_TO_RESOLVER, {ST_CT_DST4_IN, .name = "resolver4"}, {ST_DROP}}, true},
    {"answering", {ST_TO_RESOLVER, {ST_CT_DST6_IN, .name = "resolver6"}, {ST_DROP}}, true},
    {"answering", {{ST_CT_MARK, CAME(ST_MARK_OPEN)}, {ST_ACCEPT}}},
    {"answering", {{ST_L4, IPPROTO_TCP}, {ST_CT_STATE, ST_INVALID}, {ST_DROP}}, true},
    {"answering", {{ST_CT_MARK, CAME(ST_MARK_REFUSED)}, {ST_L4, IPPROTO_TCP}, {ST_RESET}}},
    {"answering", {{ST_CT_MARK, CAME(ST_MARK_REFUSED)}, {ST_DROP}}},
    {"answering", {{ST_L4_IN, .name = "errors"}, {ST_CT_STATE, ST_RELATED}, {ST_DROP}}},
    {"answering", {{ST_QUEUE}}},

    /* What the queue has said, of the packet and of its flow. */
    {"said", {{ST_MARK, SAID(ST_MARK_REFUSED)}, {ST_GOTO, .name = "refused"}}},
    {"said", {{ST_MARK, SAID(ST_MARK_OPEN)}, REPLY, {ST_SET_CT_MARK, CAME(ST_MARK_OPEN)}}},
    {"said", {{ST_MARK, SAID(ST_MARK_OPEN)}, ORIGINAL, {ST_SET_CT_MARK, BEGAN(ST_MARK_OPEN)}}},
    {"said", {{ST_MARK, SAID(ST_MARK_NAME)}, ORIGINAL, {ST_SET_CT_MARK, BEGAN(ST_MARK_NAME)}}},
    {"said", {{ST_MARK, SAID(ST_MARK_COUNT)}, ORIGINAL, {ST_SET_CT_MARK, BEGAN(ST_MARK_COUNT)}}},
    {"said", {{ST_MARK, SAID(ST_MARK_DNS)}, ORIGINAL, {ST_SET_CT_MARK, BEGAN(ST_MARK_DNS)}}},
    {"said", {FORGET_IT}},
    {"refused", {FORGET_IT}},
    {"refused", {ORIGINAL, {ST_SET_CT_MARK, BEGAN(ST_MARK_REFUSED)}}},
    {"refused", {REPLY, {ST_SET_CT_MARK, CAME(ST_MARK_REFUSED)}}},
    {"refused", {{ST_L4, IPPROTO_TCP}, {ST_RESET}}},
    {"refused", {{ST_L4, IPPROTO_UDP}, {ST_UNREACHABLE}}},
    {"refused", {{ST_DROP}}},

    /* What comes in to a socket of the group: new flows, while somebody judges; answers of resolvers. */
    {"arriving", {FORGET_IT}},
    {"arriving",
     {{ST_IIF, ST_LO}, {ST_CT_STATE, ST_RELATED}, {ST_ACCEPT}}}, /* it hears that it was refused */
    {"arriving", {ORIGINAL, {ST_CT_MARK, CAME(ST_MARK_REFUSED)}, {ST_DROP}}},
    {"arriving", {REPLY, {ST_CT_MARK, BEGAN(ST_MARK_REFUSED)}, {ST_DROP}}},
    {"arriving", {{ST_CT_STATE, ST_NEW}, {ST_NFPROTO_IN, .name = ST_SET_ALIVE_A}, {ST_QUEUE}}},
    {"arriving", {{ST_CT_STATE, ST_NEW}, {ST_NFPROTO_IN, .name = ST_SET_ALIVE_B}, {ST_QUEUE}}},
    {"arriving", {{ST_CT_STATE, ST_NEW}, {ST_DROP}}},
    {"taken",
     {{ST_MARK, SAID(ST_MARK_REFUSED)}, FORGET_IT, {ST_SET_CT_MARK, CAME(ST_MARK_REFUSED)}, {ST_DROP}}},
    {"taken", {{ST_MARK, SAID(ST_MARK_OPEN)}, {ST_SET_CT_MARK, CAME(ST_MARK_OPEN)}}},
    {"taken", {FORGET_IT}},
    {"answered", {{ST_CT_MARK, BEGAN(ST_MARK_REFUSED)}, {ST_ACCEPT}}},
    {"answered", {ST_TO_RESOLVER, REPLY, {ST_CT_DST4_IN, .name = "resolver4"}, {ST_QUEUE}}},
    {"answered", {ST_TO_RESOLVER, REPLY, {ST_CT_DST6_IN, .name = "resolver6"}, {ST_QUEUE}}},
};

uint32_t st_ruleset_verdict(const struct st_ruleset *r, uint32_t borne, uint32_t mark)
{
    const struct st_mark_bits said = {SAID(mark)};

    return r->group.level && mark ? (borne & ~said.mask) | said.value : mark;
}

size_t st_ruleset_marks_of_ours(const struct st_mark_bits **out)
{
    static const struct st_mark_bits all[] = {
        {BEGAN(ST_MARK_OPEN)}, {BEGAN(ST_MARK_NAME)},    {BEGAN(ST_MARK_COUNT)}, {BEGAN(ST_MARK_DNS)},
        {CAME(ST_MARK_OPEN)},  {BEGAN(ST_MARK_REFUSED)}, {CAME(ST_MARK_REFUSED)}};

    *out = all;
    return sizeof(all) / sizeof(all[0]);
}

void st_ruleset_build_group(struct st_nft_batch *b, const struct st_ruleset *r,
                            const struct st_ruleset_order *order)
{
    static const struct st_nft_set asking = {"asking", ST_TYPE_MARK, 4, false, 0};
    static const struct st_mark_bits name = {BEGAN(ST_MARK_NAME)}, count = {BEGAN(ST_MARK_COUNT)};
    const uint32_t values[] = {name.value, count.value};
    const struct st_ruleset_rule ours = {
        "ours", {{ST_OIF, ST_LO}, {ST_MARK, r->stamp}, {ST_NOT_TRACKED}, {ST_ACCEPT}}, false};

    st_ruleset_put_sets(b, r, order);
    st_ruleset_put_set(b, r, &asking, 100);
    st_ruleset_fill(b, r, "asking", values, 2, sizeof(values[0]));
    st_ruleset_put_chains(b, r, chains, sizeof(chains) / sizeof(chains[0]));
    st_ruleset_put_rules(b, r, rules, sizeof(rules) / sizeof(rules[0]));
    st_ruleset_put_rules(b, r, &ours, 1);
}
