/* network_dns: names: which may be asked for, and which addresses the answers give them. See network.h.
 *
 * Every message to and from the container's resolvers passes here. An answer teaches only where it answers
 * what was asked, comes from whom it was asked, and can't have been made by the container itself. */
#include "monitor/network_private.h"

#include "base/clock.h"
#include "base/mem.h"
#include "sensors/net/checksum.h"
#include "sensors/net/cursor.h"
#include "sensors/net/packet_reply.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define DNS_PORT 53
#define LOOPBACK 1 /* index of lo, in every namespace */

bool st_network_is_resolver(const struct st_network *n, const struct st_addr *addr)
{
    for (size_t i = 0; i < n->resolvers.n; i++)
        if (memcmp(&n->resolvers.addrs[i], addr, sizeof(*addr)) == 0)
            return true;
    return false;
}

static bool is_loopback(const struct st_addr *addr)
{
    static const uint8_t six[16] = {[15] = 1};

    return addr->family == 4 ? addr->bytes[0] == 127 : memcmp(addr->bytes, six, sizeof(six)) == 0;
}

/* ---- messages, in datagrams and in streams ---- */

/* What waits: one packet, and what it says. */
struct asking {
    struct st_network *network;
    struct st_flow_tuple tuple;
    struct st_nfqueue_ticket packet;
    uint16_t id, qtype;
    char *name;
    bool teaches, forwarded;
    unsigned device;
    uint8_t *bytes; /* the query's packet, for the refusal; NULL: over TCP */
    size_t len;
    bool *let; /* told; NULL: nobody listens any more */
    bool *over;
};

/* packet: the one that asked; query: the message in it, or that it completes. */
static void say_refused(struct st_network *n, const uint8_t *packet, size_t packet_len, const uint8_t *query,
                        size_t query_len, unsigned device)
{
    uint8_t message[2 + 512];
    struct st_packet p;
    size_t len = st_dns_refuse(query, query_len, message + 2, sizeof(message) - 2), size;

    if (!len || !st_packet_read(packet, packet_len, &p))
        return;
    st_store16(message, (unsigned)len);
    size = p.protocol == IPPROTO_UDP
               ? st_packet_udp_reply(packet, packet_len, message + 2, len, n->reply, sizeof(n->reply))
               : st_packet_tcp_reply(packet, packet_len, message, len + 2, n->reply, sizeof(n->reply));
    if (size)
        st_raw_reply_send(&n->replies, n->reply, size, device);
    if (!size || p.protocol == IPPROTO_UDP)
        return;
    size = st_packet_tcp_reset_after(packet, packet_len, len + 2, n->reply, sizeof(n->reply));
    st_raw_reply_send(&n->replies, n->reply, size, device);
}

static void say_datagram_refused(struct st_network *n, const struct asking *q)
{
    struct st_packet p;

    if (st_packet_read(q->bytes, q->len, &p))
        say_refused(n, q->bytes, q->len, p.payload, p.payload_len, q->device);
}

static void forget(struct asking *q)
{
    free(q->name);
    free(q->bytes);
    free(q);
}

/* A person said so: the name may be asked for from now on, of whatever type. */
static void grant(struct st_network *n, const struct asking *q)
{
    const struct st_event ev = {.type = ST_EV_DNS_QUERY, .dns = {.name = st_str(q->name)}};

    st_grants_add(&n->pipeline->grants, &ev, "approved");
}

/* Over TCP, and a person has been asked meanwhile. There may be more in the packet than the one query: it
 * comes again, and all of it is looked at. */
static void answer_stream(struct st_network *n, const struct asking *q, bool allow)
{
    struct st_flow_entry *e = st_flow_book_find(n->book, &q->tuple);

    if (e && e->stage == ST_FLOW_HELD)
        e->stage = allow ? ST_FLOW_DNS : ST_FLOW_REFUSED;
    if (allow)
        st_network_drop(n, q->packet);
    else
        st_network_accept(n, q->packet, ST_MARK_REFUSED);
}

static void answer(void *ctx, struct st_operation *op, bool allow)
{
    struct asking *q = ctx;
    struct st_network *n = q->network;
    const struct st_dns_ask ask = {.flow = q->tuple,
                                   .id = q->id,
                                   .qtype = q->qtype,
                                   .name = st_str(q->name),
                                   .teaches = q->teaches,
                                   .forwarded = q->forwarded};

    (void)op;
    allow = allow && (!q->bytes || st_network_outside_packet(n, q->bytes, q->len));
    if (allow)
        st_dns_asked_put(n->asked, &ask, st_network_now_ms());
    if (allow && !q->over)
        grant(n, q);
    if (q->let)
        *q->let = allow;
    if (q->over)
        *q->over = true;
    if (q->bytes && allow) {
        st_network_accept_copy(n, q->packet, ST_MARK_DNS, q->bytes, q->len);
    } else if (q->bytes) {
        say_datagram_refused(n, q);
        st_network_drop(n, q->packet);
    } else if (!q->over) {
        answer_stream(n, q, allow);
    }
    forget(q);
}

/* Suspicions are about what is let by: a name that is refused carries nothing out. */
static void find_suspicion(struct st_network *n, const struct st_event *ev, int64_t now_ms,
                           struct st_buf *why)
{
    unsigned all = st_dns_tally_ask(n->tally, ev->dns.name, ev->dns.qtype, now_ms);

    for (unsigned one = 1; one & ST_DNS_SUSPICIONS; one <<= 1)
        if (all & one)
            st_buf_addf(why, "%s%s", why->len ? "; " : "looks like data in names: ",
                        st_dns_suspicion_text((enum st_dns_suspicion)one));
}

/* One query. Over TCP the packet stays with the caller, who hears what was said. */
static bool judge_query(struct st_network *n, const struct st_arrival *a, const struct st_dns_message *m,
                        bool teaches, bool *over)
{
    struct asking *q = st_xcalloc(1, sizeof(*q));
    st_auto_operation op = {.answerer = answer, .ctx = q, .fd = -1};
    st_auto_buf why = ST_BUF_INIT;
    struct st_verdict v = {0};
    bool let = false, answered = false;
    struct st_event ev = {
        .type = ST_EV_DNS_QUERY,
        .tier = ST_TIER_KERNEL,
        .wall_us = st_now_wall_us(),
        .dns = {.name = {m->name.text, m->name.len}, .qtype = m->qtype, .server = a->tuple.dst}};

    *q = (struct asking){.network = n,
                         .tuple = a->tuple,
                         .packet = a->seen->ticket,
                         .device = a->seen->outdev,
                         .id = m->id,
                         .qtype = m->qtype,
                         .name = st_xstrndup(m->name.text, m->name.len),
                         .teaches = teaches,
                         .let = &let,
                         .over = &answered};
    if (a->tuple.protocol == IPPROTO_UDP) {
        q->bytes = st_network_copy(a);
        q->len = a->seen->len;
    }
    st_network_attribute(n, &ev, &a->tuple);
    if (st_pipeline_would_let(n->pipeline, &ev, &v))
        find_suspicion(n, &ev, a->now_ms, &why);
    if (why.len) {
        v = (struct st_verdict){.result = ST_ANOMALY,
                                .severity = ST_SEV_HIGH,
                                .reason = {st_buf_cstr(&why), why.len},
                                .policy_sha256 = st_policy_sha256(n->pipeline->policy)};
        v.response = n->enforce ? st_policy_on_violation(n->pipeline->policy, v.severity) : ST_RESPOND_RECORD;
        st_pipeline_respond(n->pipeline, &ev, &v, &op, a->seen_ns);
    } else {
        st_pipeline_use(n->pipeline, &ev, &op, a->seen_ns);
    }
    if (!answered) { /* held */
        q->let = q->over = NULL;
    }
    *over = answered;
    return let;
}

static void refuse_message(struct st_network *n, const struct st_arrival *a, const char *why)
{
    st_network_refuse(n, a, ST_EV_NETWORK_EGRESS, (struct st_str){0}, ST_HOST_UNKNOWN, why);
}

/* May what this resolver answers be believed? By lo only where the container can't make packets. */
static bool is_teacher(const struct st_network *n, const struct st_arrival *a)
{
    return !n->raw_sockets || !is_loopback(&a->tuple.dst);
}

static void query_by_datagram(struct st_network *n, const struct st_arrival *a)
{
    bool over;

    if (a->seen->bundle) {
        refuse_message(n, a, "several datagrams in one: each would be a query of its own");
        return;
    }
    if (!st_dns_read(a->packet.payload, a->packet.payload_len, &n->message) || n->message.response) {
        refuse_message(n, a, n->message.response ? "an answer in the place of a DNS query" : n->message.why);
        return;
    }
    judge_query(n, a, &n->message, is_teacher(n, a), &over);
}

/* It hears why, and that it is over. */
static void refuse_stream(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e,
                          const uint8_t *query, size_t len)
{
    e->stage = ST_FLOW_REFUSED;
    st_network_abandon(n, a);
    say_refused(n, a->seen->bytes, a->seen->len, query, len, a->seen->outdev);
    st_network_drop(n, a->seen->ticket);
}

/* Each message as it becomes whole; what is not whole yet says nothing to a server. */
static void query_by_stream(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e,
                            struct st_flow *stream)
{
    size_t len, at = (size_t)e->sent, size;
    const uint8_t *bytes = st_flow_bytes(stream, &len);
    bool over;

    for (; at < len; at += size + 2) {
        enum st_dns_frame frame = st_dns_frame(bytes + at, len - at, &size);

        if (frame == ST_DNS_FRAME_MORE)
            break;
        if (frame == ST_DNS_FRAME_BAD || !st_dns_read(bytes + at + 2, size, &n->message) ||
            n->message.response) {
            refuse_message(n, a, "what goes to the resolver is no DNS query");
            return;
        }
        if (!judge_query(n, a, &n->message, is_teacher(n, a), &over)) {
            if (over)
                refuse_stream(n, a, e, bytes + at + 2, size);
            else
                e->stage = ST_FLOW_HELD;
            return;
        }
    }
    e->sent = at;
    st_network_accept_seen(n, a, ST_MARK_DNS);
}

static struct st_flow_entry *dns_entry(struct st_network *n, const struct st_flow_tuple *t)
{
    struct st_flow_entry *e = st_flow_book_find(n->book, t);

    if (e)
        return e;
    e = st_flow_book_add(n->book, t, st_network_now_ms());
    if (e)
        e->stage = ST_FLOW_DNS;
    return e;
}

static bool has_stream(const struct st_network *n, const struct st_flow_tuple *t)
{
    const struct st_flow_key key = {t->src, t->dst, t->src_port, t->dst_port};

    return st_flows_find(n->streams, &key) != NULL;
}

void st_network_forget_dns(struct st_network *n, const struct st_flow_tuple *t)
{
    const struct st_flow_tuple back = st_flow_tuple_reversed(t);
    struct st_flow_entry *there = st_flow_book_find(n->book, t), *answers;

    if (there)
        st_network_forget_flow(n, there);
    answers = st_flow_book_find(n->book, &back);
    if (answers && answers->stage == ST_FLOW_DNS)
        st_network_forget_flow(n, answers);
}

void st_network_dns_query(struct st_network *n, const struct st_arrival *a)
{
    struct st_flow_entry *e;
    struct st_flow *stream = NULL;

    if (a->tuple.protocol == IPPROTO_UDP) {
        query_by_datagram(n, a);
        return;
    }
    if (n->outside.on && !is_loopback(&a->tuple.dst)) {
        refuse_message(n, a, "with CAP_NET_ADMIN the container can ask for names by UDP only");
        return;
    }
    if (a->packet.tcp_flags & ST_TCP_SYN)
        st_network_catch_up(n);
    e = dns_entry(n, &a->tuple);
    if (e && e->stage == ST_FLOW_HELD) { /* what comes again must not go before the answer */
        if (a->packet.payload_len)
            st_network_drop(n, a->seen->ticket);
        else
            st_network_accept(n, a->seen->ticket, ST_MARK_DNS);
        return;
    }
    /* It goes on, and where it is is not known any more: no place to begin anew. */
    if (e && e->sent && !has_stream(n, &a->tuple)) {
        refuse_message(n, a, "a connection to the resolver that can't be followed");
        return;
    }
    if (e && e->stage == ST_FLOW_REFUSED && !(a->packet.tcp_flags & ST_TCP_SYN)) {
        /* That it is over may be told. */
        st_network_accept(n, a->seen->ticket,
                          a->packet.tcp_flags & ST_TCP_RST ? ST_MARK_DNS : ST_MARK_REFUSED);
        return;
    }
    if (e)
        e->stage = ST_FLOW_DNS;
    switch (e ? st_flows_packet(n->streams, &a->packet, a->now_ms, &stream) : ST_SEGMENT_FULL) {
    case ST_SEGMENT_MORE: query_by_stream(n, a, e, stream); break;
    case ST_SEGMENT_NOTHING: /* what comes again may not have been answered */
        if (a->packet.payload_len)
            query_by_stream(n, a, e, stream);
        else
            st_network_accept(n, a->seen->ticket, ST_MARK_DNS);
        break;
    case ST_SEGMENT_WAITS: st_network_drop(n, a->seen->ticket); break;
    case ST_SEGMENT_UNKNOWN:
    case ST_SEGMENT_FULL:
    case ST_SEGMENT_REFUSED:
        refuse_message(n, a, "a connection to the resolver that can't be followed");
        break;
    }
}

bool st_network_dns_forward(struct st_network *n, const struct st_arrival *a)
{
    struct st_dns_message *m = &n->message;
    struct st_dns_ask put = {.flow = a->tuple, .forwarded = true, .teaches = true};

    if (n->by_group || a->tuple.dst_port != DNS_PORT || a->tuple.protocol != IPPROTO_UDP ||
        !st_dns_read(a->packet.payload, a->packet.payload_len, m) || m->response)
        return false;
    if (!st_dns_asked_same_question(n->asked, (struct st_str){m->name.text, m->name.len}, m->qtype,
                                    a->now_ms))
        return false;
    /* The container asks its resolver so that it may ask another: only a process of the host passes on. */
    if (!st_sock_held_outside(n->owners, &a->tuple, a->seen->outdev) || !dns_entry(n, &a->tuple) ||
        !st_network_outside_query(n, &a->tuple.dst, a->packet.payload, a->packet.payload_len))
        return false;
    put.id = m->id;
    put.qtype = m->qtype;
    put.name = (struct st_str){m->name.text, m->name.len};
    st_dns_asked_put(n->asked, &put, a->now_ms);
    st_network_accept(n, a->seen->ticket, ST_MARK_DNS);
    return true;
}

/* ---- answers ---- */

/* No name makes an address of this machine, of its link, or of nobody a place to go to. */
static bool is_nowhere(const struct st_addr *addr)
{
    const uint8_t *b = addr->bytes;

    if (addr->family == 4)
        return b[0] == 127 || b[0] == 0 || b[0] >= 224 || (b[0] == 169 && b[1] == 254);
    return b[0] == 0xff || (b[0] == 0xfe && (b[1] & 0xc0) == 0x80) || b[0] == 0;
}

/* Whoever owns a name can point it at the machines behind our own walls (rebinding). */
static bool is_inner(const struct st_addr *addr)
{
    const uint8_t *b = addr->bytes;

    if (addr->family == 4)
        return b[0] == 10 || (b[0] == 172 && (b[1] & 0xf0) == 16) || (b[0] == 192 && b[1] == 168) ||
               (b[0] == 100 && (b[1] & 0xc0) == 64);
    return (b[0] & 0xfe) == 0xfc;
}

static void learn(struct st_network *n, const struct st_dns_message *m, int64_t now_ms)
{
    for (size_t i = 0; i < n->answers.n_addrs; i++) {
        const struct st_dns_addr *one = &n->answers.addrs[i];

        if (!is_nowhere(&one->addr) && (n->inner_names || !is_inner(&one->addr)))
            st_names_learn(n->names, &one->addr, (struct st_str){m->name.text, m->name.len}, one->ttl,
                           now_ms);
    }
}

/* What was answered is a fact of its own: the permission to ask is on the trace already. */
static void record(struct st_network *n, const struct st_arrival *a, const struct st_dns_message *m)
{
    struct st_str texts[16];
    char room[16][ST_ADDR_TEXT_SIZE];
    size_t count = n->answers.n_addrs < 16 ? n->answers.n_addrs : 16;
    struct st_event ev = {.type = ST_EV_DNS_QUERY,
                          .tier = ST_TIER_KERNEL,
                          .wall_us = st_now_wall_us(),
                          .dns = {.name = {m->name.text, m->name.len},
                                  .qtype = m->qtype,
                                  .server = a->tuple.src,
                                  .answers = texts,
                                  .n_answers = count}};

    for (size_t i = 0; i < count; i++) {
        st_addr_format(&n->answers.addrs[i].addr, room[i]);
        texts[i] = st_str(room[i]);
    }
    if (count)
        st_pipeline_outcome(n->pipeline, &ev);
}

/* false: it answers nothing that was asked, or not as one should. */
static bool take_answer(struct st_network *n, const struct st_arrival *a, const uint8_t *bytes, size_t len)
{
    struct st_dns_message *m = &n->message;
    struct st_dns_taken taken;
    bool by_lo = a->seen->indev == LOOPBACK;

    if (!st_dns_read(bytes, len, m) || !m->response ||
        !st_dns_asked_take(n->asked, &a->tuple, m->id, (struct st_str){m->name.text, m->name.len}, m->qtype,
                           a->now_ms, &taken))
        return false;
    /* What comes in by lo from somebody who is not there was made by the container. In the host's network all
     * of the host's own addresses are by lo, and the rules let nobody answer in a resolver's place. */
    if (by_lo && !n->by_group && !is_loopback(&a->tuple.src))
        return false;
    if (!st_dns_answers_read(bytes, len, m, &n->answers))
        return false;
    if (taken.teaches)
        learn(n, m, a->now_ms);
    if (!taken.forwarded)
        record(n, a, m);
    return true;
}

static bool take_stream(struct st_network *n, const struct st_arrival *a)
{
    const struct st_flow_key key = {a->tuple.src, a->tuple.dst, a->tuple.src_port, a->tuple.dst_port};
    struct st_flow_entry *e = dns_entry(n, &a->tuple);
    struct st_flow *stream = NULL;
    size_t len, at, size;
    const uint8_t *bytes;

    if (!e)
        return false;
    if ((a->packet.tcp_flags & ST_TCP_SYN) && !st_flows_find(n->streams, &key))
        return st_flows_open(n->streams, &key, a->packet.tcp_seq + 1, a->now_ms) != NULL;
    switch (st_flows_packet(n->streams, &a->packet, a->now_ms, &stream)) {
    case ST_SEGMENT_MORE: break;
    case ST_SEGMENT_NOTHING: return true;
    case ST_SEGMENT_WAITS:
    case ST_SEGMENT_UNKNOWN:
    case ST_SEGMENT_FULL:
    case ST_SEGMENT_REFUSED: return false;
    }
    bytes = st_flow_bytes(stream, &len);
    for (at = (size_t)e->sent; at < len; at += size + 2) {
        enum st_dns_frame frame = st_dns_frame(bytes + at, len - at, &size);

        if (frame == ST_DNS_FRAME_MORE)
            break;
        if (frame == ST_DNS_FRAME_BAD || !take_answer(n, a, bytes + at + 2, size))
            return false;
    }
    e->sent = at;
    return true;
}

void st_network_dns_answer(struct st_network *n, const struct st_arrival *a)
{
    bool good = a->tuple.protocol == IPPROTO_UDP ? take_answer(n, a, a->packet.payload, a->packet.payload_len)
                                                 : take_stream(n, a);

    if (good || !n->enforce)
        st_network_accept(n, a->seen->ticket, 0);
    else
        st_network_drop(n, a->seen->ticket);
}
