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
    int64_t keep_ms; /* so long the kernel may answer for this destination; 0: not at all */
    bool held;       /* a person is asked */
    bool data;       /* there are bytes in it that count */
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

static void keep(struct st_network *n, const struct question *q, struct st_error *err)
{
    const struct st_flow_tuple *t = &q->tuple;

    if (q->mark == ST_MARK_OPEN)
        st_ruleset_open(&n->rules, &t->dst, t->protocol, t->dst_port, (uint64_t)q->keep_ms, err);
    else if (st_ruleset_open_name(&n->rules, &t->dst, t->dst_port, (uint64_t)q->keep_ms, err) == 0)
        n->lets_begin = true;
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
        if (q->mark != ST_MARK_OPEN)
            q->keep_ms = 0; /* the next one has a name to show */
        q->mark = ST_MARK_OPEN;
    }
    allow =
        allow && st_network_outside_let(n, &q->tuple, q->about.type == ST_EV_NETWORK_INGRESS) && enter(n, q);
    if (allow && q->keep_ms > 0)
        keep(n, q, &err);
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

/* How long the kernel may answer for it; 0: not at all. */
static int64_t may_keep(struct st_network *n, const struct st_arrival *a, const struct way *way,
                        uint32_t mark)
{
    int64_t left;

    if (n->by_group || !n->simple || !a->packet.has_ports || mark == ST_MARK_COUNT)
        return 0;
    if (way->by != BY_NAME)
        return way->by == BY_ADDRESS ? KEEP_MS : 0;
    if (mark != ST_MARK_NAME || !n->rules.begun || !way->host.p)
        return 0;
    left = st_names_until(n->names, &a->tuple.dst, way->host) - a->now_ms;
    return left < KEEP_MS ? left : KEEP_MS;
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
    q->keep_ms = may_keep(n, a, &way, q->mark);
    if (q->mark == ST_MARK_NAME && !begin_stream(n, a)) {
        forget(q);
        st_network_refuse(n, a, ST_EV_NETWORK_EGRESS, way.host, ST_HOST_DNS,
                          "too many connections are at their beginning");
        return;
    }
    put_question(n, a, &ev, q);
}

struct st_flow_entry *st_network_begin(struct st_network *n, struct st_event *ev,
                                       const struct st_flow_tuple *t, enum st_flow_stage stage)
{
    struct st_flow_entry *e;

    st_network_attribute(n, ev, t);
    e = st_flow_book_add(n->book, t, st_network_now_ms());
    if (e) {
        e->stage = stage;
        e->rule = UINT32_MAX;
        e->pid = ev->process.pid;
        st_flow_set_host(e, ev->net.host, ev->net.host_source);
        st_flow_set_exe(e, ev->process.exe);
    }
    st_pipeline_outcome(n->pipeline, ev);
    return e;
}

void st_network_begin_by_name(struct st_network *n, const struct st_arrival *a)
{
    struct st_event ev = st_network_event(n, ST_EV_NETWORK_EGRESS, &a->tuple);
    struct way way = find_way(n, &ev, a->now_ms);
    struct st_operation none = ST_OPERATION_NONE;
    struct st_flow_entry *e = st_flow_book_find(n->book, &a->tuple);

    /* Ports are used again: the kernel has told of the end by then. This one is new for certain. */
    if (e) {
        st_network_catch_up(n);
        e = st_flow_book_find(n->book, &a->tuple);
    }
    if (e)
        st_network_forget_flow(n, e);
    if (way.host.p) {
        ev.net.host = way.host;
        ev.net.host_source = ST_HOST_DNS;
    }
    e = st_network_begin(n, &ev, &a->tuple, ST_FLOW_NAME);
    if (e)
        e->rule = way.rule;
    if (!e || begin_stream(n, a))
        return;
    e->stage = n->enforce ? ST_FLOW_REFUSED : ST_FLOW_OPEN; /* for its data, which are asked about */
    if (n->enforce)
        st_pipeline_refuse(n->pipeline, &ev, &none, "too many connections are at their beginning");
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
