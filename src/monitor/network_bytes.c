/* network_bytes: flows whose bytes are limited: every packet with data is looked at. See network.h. */
#include "base/mem.h"
#include "monitor/network_private.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t sent_by_rule(const struct st_network *n, uint32_t rule)
{
    int64_t sum = 0;

    for (const struct st_flow_entry *e = st_flow_book_first(n->book); e; e = st_flow_book_next(e))
        if (e->rule == rule && !e->ingress)
            sum += (int64_t)e->sent;
    return sum;
}

/* What the flow has shown so far, and whose limit it would pass with this packet; NULL: nobody's. */
static const char *passes_limit(struct st_network *n, const struct st_flow_entry *e, size_t more, char *why,
                                size_t size)
{
    const struct st_rule *rules;
    const struct st_rule *rule;
    int64_t sent = (int64_t)(e->sent + more), all;

    if (e->rule >= st_policy_rules(n->pipeline->policy, &rules))
        return NULL;
    rule = &rules[e->rule];
    if (rule->max_bytes_per_call >= 0 && sent > rule->max_bytes_per_call) {
        snprintf(why, size, "%lld bytes sent on one connection, rule %s allows %lld", (long long)sent,
                 rule->id, (long long)rule->max_bytes_per_call);
        return rule->id;
    }
    if (rule->max_bytes_total < 0)
        return NULL;
    all = sent_by_rule(n, e->rule) + st_counters_sent(n->pipeline->counters, e->rule) + (int64_t)more;
    if (all <= rule->max_bytes_total)
        return NULL;
    snprintf(why, size, "%lld bytes sent to these destinations, rule %s allows %lld", (long long)all,
             rule->id, (long long)rule->max_bytes_total);
    return rule->id;
}

bool st_network_within_limit(struct st_network *n, const struct st_flow_entry *e, size_t more)
{
    char why[256];

    return !passes_limit(n, e, more, why, sizeof(why));
}

/* The packet that would pass a limit, until somebody has said what becomes of its flow. */
struct excess {
    struct st_network *network;
    struct st_flow_tuple tuple;
    struct st_nfqueue_ticket packet;
};

static void answer_excess(void *ctx, struct st_operation *op, bool allow)
{
    struct excess *x = ctx;
    struct st_flow_entry *e = st_flow_book_find(x->network->book, &x->tuple);

    (void)op;
    if (e)
        e->stage = allow ? ST_FLOW_OPEN : ST_FLOW_REFUSED;
    st_network_accept(x->network, x->packet, allow ? ST_MARK_OPEN : ST_MARK_REFUSED);
    free(x);
}

static void on_excess(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e,
                      const char *rule, const char *why)
{
    struct excess *x = st_xmalloc(sizeof(*x));
    st_auto_operation op = {.answerer = answer_excess, .ctx = x, .fd = -1};
    struct st_verdict v = {.result = ST_ANOMALY,
                           .rule = st_str(rule),
                           .reason = st_str(why),
                           .policy_sha256 = st_policy_sha256(n->pipeline->policy)};
    const struct st_rule *rules;
    struct st_event ev = st_network_event(n, ST_EV_NETWORK_EGRESS, &e->tuple);

    *x = (struct excess){.network = n, .tuple = e->tuple, .packet = a->seen->ticket};
    st_policy_rules(n->pipeline->policy, &rules);
    if (e->host) {
        ev.net.host = st_str(e->host);
        ev.net.host_source = e->host_source;
    }
    ev.net.state = ST_NET_ESTABLISHED;
    ev.net.bytes_sent = (int64_t)(e->sent + a->packet.payload_len);
    st_network_attribute(n, &ev, &e->tuple);
    v.severity = rules[e->rule].severity;
    v.response = n->enforce ? st_policy_on_violation(n->pipeline->policy, v.severity) : ST_RESPOND_RECORD;
    e->stage = ST_FLOW_HELD; /* until it is answered, which may be now */
    st_pipeline_respond(n->pipeline, &ev, &v, &op, a->seen_ns);
}

void st_network_count(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e)
{
    char why[256];
    const char *rule = passes_limit(n, e, a->packet.payload_len, why, sizeof(why));

    if (rule) {
        on_excess(n, a, e, rule, why);
        return;
    }
    e->sent += a->packet.payload_len;
    if (a->as_seen)
        st_network_accept_seen(n, a, ST_MARK_COUNT);
    else
        st_network_accept(n, a->seen->ticket, ST_MARK_COUNT);
}

void st_network_reassess(struct st_network *n, struct st_flow_entry *e)
{
    struct st_event ev = st_network_event(n, ST_EV_NETWORK_EGRESS, &e->tuple);
    struct st_verdict v = {0};

    if (e->rule == UINT32_MAX || e->ingress)
        return;
    if (e->host) {
        ev.net.host = st_str(e->host);
        ev.net.host_source = e->host_source;
    }
    if (!st_pipeline_would_let(n->pipeline, &ev, &v) && n->enforce)
        e->stage = ST_FLOW_REFUSED;
    e->rule = st_network_limiting_rule(n, &v);
}
