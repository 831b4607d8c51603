/* network_flow: judges the first packet of a flow, and marks the flow by what was said. See network.h.
 *
 * Three ways lead to a yes: by the address alone; by a name that a resolver gave to the address, which the
 * flow must show then (network_name.c); by a person. */
#include "monitor/network_private.h"

#include "base/clock.h"
#include "base/mem.h"
#include "sensors/net/quic.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_MS                                                                                              \
    300000 /* a destination that is allowed by its address: so long the kernel does not ask again */
#define SILENCE_MS 30000
#define MAX_HELD 256 /* packets that wait for a person */

/* ---- what is asked ---- */

struct st_event st_network_event(struct st_network *n, enum st_event_type type, const struct st_flow_tuple *t)
{
    bool out = type == ST_EV_NETWORK_EGRESS;
    bool echo = t->protocol == IPPROTO_ICMP || t->protocol == IPPROTO_ICMPV6; /* has a number, and no ports */

    (void)n;
    return (struct st_event){.type = type,
                             .tier = ST_TIER_KERNEL,
                             .wall_us = st_now_wall_us(),
                             .net = {.addr = out ? t->dst : t->src,
                                     .port = echo  ? 0
                                             : out ? t->dst_port
                                                   : t->src_port,
                                     .local_port = echo  ? 0
                                                   : out ? t->src_port
                                                         : t->dst_port,
                                     .protocol = t->protocol,
                                     .state = ST_NET_ATTEMPT,
                                     .bytes_sent = ST_UNKNOWN,
                                     .bytes_received = ST_UNKNOWN,
                                     .packets_sent = ST_UNKNOWN,
                                     .packets_received = ST_UNKNOWN,
                                     .duration_ms = ST_UNKNOWN}};
}

/* ---- what is answered ---- */

/* A flow between its first packet and the answer. */
struct question {
    struct st_network *network;
    struct st_flow_tuple tuple;
    struct st_nfqueue_ticket packet;
    uint32_t mark, rule;
    bool keep; /* the kernel may answer for this destination from now on */
    bool held; /* a person is asked */
    bool data; /* there are bytes in it that count */
    enum state { WAITS, ANSWERED, TO_BE_COUNTED } * state; /* NULL: nobody listens any more */
    struct st_event_type_host {
        enum st_event_type type;
        enum st_host_source source;
        char *host;
    } about;
    pid_t pid;
    char *exe;
};

static enum st_flow_stage stage_of(uint32_t mark)
{
    return mark == ST_MARK_NAME ? ST_FLOW_NAME : mark == ST_MARK_COUNT ? ST_FLOW_COUNT : ST_FLOW_OPEN;
}

/* A flow that is not in the book has an end without a beginning, and no name: never a free one. */
static bool enter(struct st_network *n, const struct question *q)
{
    struct st_flow_entry *e = st_flow_book_add(n->book, &q->tuple, st_network_now_ms());

    if (!e)
        return false;
    e->stage = stage_of(q->mark);
    e->rule = q->rule;
    e->ingress = q->about.type == ST_EV_NETWORK_INGRESS;
    e->pid = q->pid;
    st_flow_set_host(e, q->about.host ? st_str(q->about.host) : (struct st_str){0}, q->about.source);
    st_flow_set_exe(e, q->exe ? st_str(q->exe) : (struct st_str){0});
    return true;
}

/* Whoever approves one connection approves the next to the same place. */
static void grant(struct st_network *n, const struct question *q)
{
    struct st_event ev = st_network_event(n, q->about.type, &q->tuple);

    if (q->about.host) {
        ev.net.host = st_str(q->about.host);
        ev.net.host_source = q->about.source;
    }
    st_grants_add(&n->pipeline->grants, &ev, "approved");
}

static void forget(struct question *q)
{
    free(q->about.host);
    free(q->exe);
    free(q);
}

static void answer(void *ctx, struct st_operation *op, bool allow)
{
    struct question *q = ctx;
    struct st_network *n = q->network;
    struct st_flow_entry *held = q->held ? st_flow_book_find(n->book, &q->tuple) : NULL;
    struct st_error err = {0}; /* where it can't be kept, the next one is asked about as well */

    (void)op;
    if (held)
        st_network_forget_flow(n, held);
    if (q->held)
        n->n_held--;
    if (allow && q->held) {
        grant(n, q);
        q->mark = ST_MARK_OPEN;
    }
    allow =
        allow && st_network_outside_let(n, &q->tuple, q->about.type == ST_EV_NETWORK_INGRESS) && enter(n, q);
    if (allow && q->keep)
        st_ruleset_open(&n->rules, &q->tuple.dst, q->tuple.protocol, q->tuple.dst_port, KEEP_MS, &err);
    if (q->state)
        *q->state = allow && q->data && q->mark == ST_MARK_COUNT ? TO_BE_COUNTED : ANSWERED;
    if (!q->state || *q->state == ANSWERED)
        st_network_accept(n, q->packet, allow ? q->mark : ST_MARK_REFUSED);
    forget(q);
}

static struct question *ask_about(struct st_network *n, const struct st_arrival *a, const struct st_event *ev)
{
    struct question *q = st_xcalloc(1, sizeof(*q));

    *q = (struct question){.network = n,
                           .tuple = a->tuple,
                           .packet = a->seen->ticket,
                           .mark = ST_MARK_OPEN,
                           .rule = UINT32_MAX,
                           .data = a->packet.payload_len > 0,
                           .about = {.type = ev->type, .source = ev->net.host_source},
                           .pid = ev->process.pid};
    if (ev->net.host.p)
        q->about.host = st_xstrndup(ev->net.host.p, ev->net.host.len);
    if (ev->process.exe.p)
        q->exe = st_xstrndup(ev->process.exe.p, ev->process.exe.len);
    return q;
}

/* Retransmissions of what is held find it in the book, and are not asked about again. */
static void keep_held(struct st_network *n, struct question *q)
{
    struct st_flow_entry *e = st_flow_book_add(n->book, &q->tuple, st_network_now_ms());

    q->held = true;
    n->n_held++;
    if (e)
        e->stage = ST_FLOW_HELD;
}

static void put_question(struct st_network *n, const struct st_arrival *a, const struct st_event *ev,
                         struct question *q)
{
    st_auto_operation op = {.answerer = answer, .ctx = q, .fd = -1};
    enum state state = WAITS;

    /* Where the question lives on, this is taken back before we return. */
    /* cppcheck-suppress autoVariables */
    q->state = &state;
    if (n->n_held >= MAX_HELD)
        st_pipeline_refuse(n->pipeline, ev, &op, "too many connections wait for a person already");
    else
        st_pipeline_use(n->pipeline, ev, &op, a->seen_ns);
    if (state == TO_BE_COUNTED)
        st_network_count(n, a, st_flow_book_find(n->book, &a->tuple));
    if (state != WAITS)
        return;
    q->state = NULL;
    keep_held(n, q);
}

void st_network_refuse(struct st_network *n, const struct st_arrival *a, enum st_event_type type,
                       struct st_str host, enum st_host_source source, const char *reason)
{
    struct st_event ev = st_network_event(n, type, &a->tuple);
    struct question *q;

    ev.net.host = host;
    ev.net.host_source = source;
    st_network_attribute(n, &ev, &a->tuple);
    q = ask_about(n, a, &ev);
    st_auto_operation op = {.answerer = answer, .ctx = q, .fd = -1};

    if (n->enforce)
        st_pipeline_refuse(n->pipeline, &ev, &op, reason);
    else
        st_pipeline_use(n->pipeline, &ev, &op, a->seen_ns);
}

/* ---- the way to a yes ---- */

uint32_t st_network_limiting_rule(const struct st_network *n, const struct st_verdict *v)
{
    const struct st_rule *rules;
    size_t count = n->limits && v->rule.p ? st_policy_rules(n->pipeline->policy, &rules) : 0;

    for (size_t i = 0; i < count; i++)
        if (rules[i].id && strlen(rules[i].id) == v->rule.len &&
            memcmp(rules[i].id, v->rule.p, v->rule.len) == 0)
            return rules[i].max_bytes_per_call >= 0 || rules[i].max_bytes_total >= 0 ? (uint32_t)i
                                                                                     : UINT32_MAX;
    return UINT32_MAX;
}

struct way {
    enum { NO_WAY, BY_ADDRESS, BY_NAME } by;
    struct st_str host; /* that it goes by, or is known by */
    uint32_t rule;      /* that counts its bytes; UINT32_MAX: none */
};

/* All names that the address has been given, and the address itself. */
static struct way find_way(struct st_network *n, const struct st_event *seen, int64_t now_ms)
{
    struct st_str names[ST_NAMES_PER_ADDR];
    size_t count = st_names_of(n->names, &seen->net.addr, now_ms, names, ST_NAMES_PER_ADDR);
    struct st_event ev = *seen;
    struct st_verdict v = {0};
    struct way way = {.host = count ? names[0] : (struct st_str){0}, .rule = UINT32_MAX};
    bool by_address = st_pipeline_would_let(n->pipeline, &ev, &v), all = true;

    if (by_address)
        way.rule = st_network_limiting_rule(n, &v);
    ev.net.host_source = ST_HOST_DNS;
    for (size_t i = 0; i < count; i++) {
        ev.net.host = names[i];
        if (!st_pipeline_would_let(n->pipeline, &ev, &v)) {
            all = false;
        } else if (!by_address && way.by == NO_WAY) {
            way = (struct way){.by = BY_NAME, .host = names[i], .rule = st_network_limiting_rule(n, &v)};
        }
    }
    if (!by_address)
        return way;
    /* One of the names is refused: which one is meant must be shown. */
    way.by = all ? BY_ADDRESS : BY_NAME;
    return way;
}

/* UDP shows no name that we can read; where one would be expected, it must be allowed by its address. */
static bool hides_its_name(const struct st_arrival *a)
{
    return a->tuple.protocol == IPPROTO_UDP &&
           (a->tuple.dst_port == 443 || a->tuple.dst_port == 80 || a->tuple.dst_port == 853 ||
            st_quic_is_first(a->packet.payload, a->packet.payload_len));
}

static bool begin_stream(struct st_network *n, const struct st_arrival *a)
{
    struct st_flow *stream = NULL;

    if (st_flows_packet(n->streams, &a->packet, a->now_ms, &stream) != ST_SEGMENT_FULL)
        return stream != NULL;
    /* Connections that were made, and over which nothing was said. */
    st_flows_expire(n->streams, a->now_ms - SILENCE_MS);
    return st_flows_packet(n->streams, &a->packet, a->now_ms, &stream) != ST_SEGMENT_FULL && stream;
}

static void judge_egress(struct st_network *n, const struct st_arrival *a)
{
    struct st_event ev = st_network_event(n, ST_EV_NETWORK_EGRESS, &a->tuple);
    struct way way = find_way(n, &ev, a->now_ms);
    const char *fault;
    struct question *q;

    if (way.host.p) {
        ev.net.host = way.host;
        ev.net.host_source = ST_HOST_DNS;
    }
    fault = st_network_outside_fault(n, way.by == BY_NAME, way.by == BY_ADDRESS && way.rule != UINT32_MAX);
    if (fault) {
        st_network_refuse(n, a, ST_EV_NETWORK_EGRESS, way.host, way.host.p ? ST_HOST_DNS : ST_HOST_UNKNOWN,
                          fault);
        return;
    }
    if (way.by == BY_NAME && n->enforce && hides_its_name(a)) {
        st_network_refuse(
            n, a, ST_EV_NETWORK_EGRESS, way.host, ST_HOST_DNS,
            "QUIC hides the name that it is for; allow the address, or let the client use TLS over TCP");
        return;
    }
    /* Data before there is a connection (TCP fast open) would be there before its name: the kernel tries
     * again without. */
    if (way.by == BY_NAME && n->enforce && a->tuple.protocol == IPPROTO_TCP && a->packet.payload_len) {
        st_network_drop(n, a->seen->ticket);
        return;
    }
    st_network_attribute(n, &ev, &a->tuple);
    q = ask_about(n, a, &ev);
    q->rule = way.rule;
    if (way.by == BY_NAME && a->tuple.protocol == IPPROTO_TCP)
        q->mark = ST_MARK_NAME;
    else if (way.rule != UINT32_MAX)
        q->mark = ST_MARK_COUNT;
    q->keep =
        !n->by_group && n->simple && way.by == BY_ADDRESS && way.rule == UINT32_MAX && a->packet.has_ports;
    if (q->mark == ST_MARK_NAME && !begin_stream(n, a)) {
        forget(q);
        st_network_refuse(n, a, ST_EV_NETWORK_EGRESS, way.host, ST_HOST_DNS,
                          "too many connections are at their beginning");
        return;
    }
    put_question(n, a, &ev, q);
}

static void judge_ingress(struct st_network *n, const struct st_arrival *a)
{
    struct st_event ev = st_network_event(n, ST_EV_NETWORK_INGRESS, &a->tuple);

    ev.process = (struct st_process){0}; /* nobody has accepted it yet */
    put_question(n, a, &ev, ask_about(n, a, &ev));
}

void st_network_judge_flow(struct st_network *n, const struct st_arrival *a, enum st_event_type type)
{
    if (type == ST_EV_NETWORK_INGRESS)
        judge_ingress(n, a);
    else if (a->packet.protocol == IPPROTO_TCP && !(a->packet.tcp_flags & ST_TCP_SYN))
        st_network_refuse(n, a, type, (struct st_str){0}, ST_HOST_UNKNOWN,
                          "a TCP segment of no connection that is known");
    else
        judge_egress(n, a);
}

/* ---- bytes ---- */

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
