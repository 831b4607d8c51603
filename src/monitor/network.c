/* network: see network.h. Which packet is whose business, and the end. */
#include "monitor/network_private.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/idle.h"
#include "base/mem.h"
#include "monitor/record.h"
#include "sensors/net/checksum.h"
#include "sensors/net/cursor.h"
#include "sensors/net/packet_reply.h"

#include <errno.h>
#include <netinet/in.h> /* before what the kernel has of the same */
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include <linux/netfilter.h>

#define AT_ONCE 64 /* packets, before others get their turn */
#define RETRY_NS 50000000LL
#define RETRIES 200

int64_t st_network_now_ms(void)
{
    return st_now_mono_ns() / 1000000;
}

void st_network_accept(struct st_network *n, struct st_nfqueue_ticket packet, uint32_t mark)
{
    st_nfqueue_verdict(n->queue_fd, n->order.queue, packet.id, true,
                       st_ruleset_verdict(&n->rules, packet.mark, mark));
}

uint8_t *st_network_copy(const struct st_arrival *a)
{
    uint8_t *copy = st_xmalloc(a->seen->len), *transport = copy + (a->packet.transport - a->seen->bytes);
    size_t len = (size_t)(a->packet.payload + a->packet.payload_len - a->packet.transport);
    uint8_t *field = transport + (a->packet.protocol == IPPROTO_TCP ? 16 : 6);
    uint16_t sum;

    memcpy(copy, a->seen->bytes, a->seen->len);
    if (!a->seen->checksum_pending)
        return copy;
    st_store16(field, 0);
    sum = st_checksum_transport(copy, a->packet.version, a->packet.protocol, transport, len);
    st_store16(field, sum || a->packet.protocol == IPPROTO_TCP ? sum : 0xffff);
    return copy;
}

void st_network_accept_copy(struct st_network *n, struct st_nfqueue_ticket packet, uint32_t mark,
                            const uint8_t *copy, size_t len)
{
    mark = st_ruleset_verdict(&n->rules, packet.mark, mark);
    if (st_nfqueue_replace(n->queue_fd, n->order.queue, packet.id, mark, copy, len) < 0)
        st_network_drop(n, packet);
}

void st_network_accept_seen(struct st_network *n, const struct st_arrival *a, uint32_t mark)
{
    st_auto_free uint8_t *copy = st_network_copy(a);

    st_network_accept_copy(n, a->seen->ticket, mark, copy, a->seen->len);
}

void st_network_drop(struct st_network *n, struct st_nfqueue_ticket packet)
{
    st_nfqueue_verdict(n->queue_fd, n->order.queue, packet.id, false, 0);
}

void st_network_abandon(struct st_network *n, const struct st_arrival *a)
{
    size_t len = st_packet_tcp_abandon(a->seen->bytes, a->seen->len, n->reply, sizeof(n->reply));

    if (len && n->enforce)
        st_raw_reply_send(&n->replies, n->reply, len, a->seen->outdev);
}

/* ---- packets ---- */

static void outgoing(struct st_network *n, const struct st_arrival *a)
{
    struct st_flow_entry *e;

    if (a->packet.has_ports && a->tuple.dst_port == 53 && st_network_is_resolver(n, &a->tuple.dst)) {
        st_network_dns_query(n, a);
        return;
    }
    if (st_network_dns_forward(n, a))
        return;
    /* Always: what is in the book may be another one, by the same ports. */
    if (a->packet.protocol == IPPROTO_TCP)
        st_network_hear_begun(n);
    e = st_flow_book_find(n->book, &a->tuple);
    /* Ports are used again: the kernel has told of the end by then. A flow that goes on begins no second
     * time: its bytes stay counted, and its stream is where it was. */
    if (e && e->stage != ST_FLOW_HELD && a->packet.protocol == IPPROTO_TCP &&
        (a->packet.tcp_flags & (ST_TCP_SYN | ST_TCP_ACK)) == ST_TCP_SYN) {
        st_network_catch_up(n);
        e = st_flow_book_find(n->book, &a->tuple);
    }
    switch (e ? (enum st_flow_stage)e->stage : ST_FLOW_DNS) {
    case ST_FLOW_HELD: st_network_drop(n, a->seen->ticket); break;
    case ST_FLOW_NAME: st_network_check_name(n, a, e); break;
    case ST_FLOW_COUNT: st_network_count(n, a, e); break;
    case ST_FLOW_OPEN: st_network_accept(n, a->seen->ticket, ST_MARK_OPEN); break;
    case ST_FLOW_REFUSED: st_network_accept(n, a->seen->ticket, ST_MARK_REFUSED); break;
    case ST_FLOW_DNS: st_network_judge_flow(n, a, ST_EV_NETWORK_EGRESS); break;
    }
}

static void incoming(struct st_network *n, const struct st_arrival *a)
{
    const struct st_flow_tuple back = st_flow_tuple_reversed(&a->tuple);
    const struct st_flow_entry *e = st_flow_book_find(n->book, &back);

    if (a->packet.has_ports && a->tuple.src_port == 53 &&
        (st_network_is_resolver(n, &a->tuple.src) || (e && e->stage == ST_FLOW_DNS))) {
        st_network_dns_answer(n, a);
        return;
    }
    e = st_flow_book_find(n->book, &a->tuple);
    if (e && e->stage == ST_FLOW_HELD)
        st_network_drop(n, a->seen->ticket);
    else if (n->by_group && e && !e->ingress) /* from the container to itself: judged as it left */
        st_network_accept(n, a->seen->ticket, ST_MARK_OPEN);
    else
        st_network_judge_flow(n, a, ST_EV_NETWORK_INGRESS);
}

/* What is no packet that we can read has no flow to be marked: it vanishes, and is recorded. */
static void refuse_unreadable(struct st_network *n, const struct st_arrival *a, const char *why)
{
    struct st_event ev = st_network_event(
        n, a->seen->hook == NF_INET_LOCAL_IN ? ST_EV_NETWORK_INGRESS : ST_EV_NETWORK_EGRESS, &a->tuple);
    struct st_operation none = ST_OPERATION_NONE;

    if (!n->enforce) {
        st_network_accept(n, a->seen->ticket, 0);
        return;
    }
    st_network_drop(n, a->seen->ticket);
    ev.net.blocked = true;
    st_pipeline_refuse(n->pipeline, &ev, &none, why);
}

static void on_packet(void *ctx, const struct st_nfqueue_packet *seen)
{
    struct st_network *n = ctx;
    struct st_arrival a = {.seen = seen, .seen_ns = st_now_mono_ns()};

    n->in_use = true;
    a.now_ms = a.seen_ns / 1000000;
    if (!seen->whole || !st_packet_read(seen->bytes, seen->len, &a.packet)) {
        refuse_unreadable(n, &a, seen->whole ? a.packet.why : "a packet that is not whole");
        return;
    }
    a.tuple = st_flow_tuple_of(&a.packet);
    if (a.packet.fragment || a.packet.rerouted)
        refuse_unreadable(n, &a,
                          a.packet.fragment ? "a piece of a packet" : "a packet with a route of its own");
    else if (seen->hook == NF_INET_LOCAL_IN)
        incoming(n, &a);
    else
        outgoing(n, &a);
}

static void on_queue(void *ctx, uint32_t events)
{
    struct st_network *n = ctx;

    (void)events;
    st_network_settle(n);
    st_nfqueue_read(n->queue_fd, n->rooms, sizeof(n->rooms) / sizeof(n->rooms[0]), AT_ONCE, on_packet, n,
                    &n->unread);
}

/* ---- what is said of us ---- */

void st_network_say(struct st_network *n, const char *state, const char *detail)
{
    st_auto_buf payload = ST_BUF_INIT;
    struct st_error err = {0};

    st_record_sensor(&payload, "network", state, detail);
    if (st_pipeline_note(n->pipeline, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, true, &err) <
        0)
        n->pipeline->trace_failed(n->pipeline->ctx, &err);
}

/* ---- devices ---- */

static void on_link(void *ctx, const struct st_device *link)
{
    struct st_network *n = ctx;
    struct st_error err = {0};
    char detail[256];

    if (link->loopback || link->gone || !n->enforce || !n->share.keeper)
        return;
    st_network_outside_device(n, link);
    if (st_ruleset_guard(&n->rules, link->name, &err) == 0)
        return;
    snprintf(detail, sizeof(detail), "packet sockets on %s are not kept back: %.128s", link->name, err.msg);
    st_network_say(n, "degraded", detail);
}

static void on_links(void *ctx, uint32_t events)
{
    struct st_network *n = ctx;
    struct st_error err = {0};

    (void)events;
    if (st_links_read(n->links_fd, on_link, n) == -ENOBUFS)
        st_links_ask(n->links_fd, &err);
}

void st_network_settle(struct st_network *n)
{
    if (n->outside.on)
        on_links(n, 0);
}

/* The monitor that kept the rules has gone. Where nobody can keep them, what it left lets nothing by. */
static void begin_to_keep(struct st_network *n)
{
    struct st_error err = {0};

    n->retry_ns = 0;
    n->in_use = true; /* by flows that the other one has let by */
    if (st_network_keep_rules(n, &err) == 0 && st_links_ask(n->links_fd, &err) == 0) {
        st_network_describe(n);
        st_network_say(n, "on", n->detail);
    } else if (err.errnum == EPERM && ++n->retries < RETRIES) {
        n->retry_ns =
            st_now_mono_ns() + RETRY_NS; /* its processes hold what we need, and are on their way out */
    } else {
        st_network_say(n, "degraded", err.msg);
    }
}

static void on_keeper_gone(void *ctx, uint32_t events)
{
    struct st_network *n = ctx;

    (void)events;
    st_loop_remove(n->loop, n->share.fd);
    if (st_netshare_take_over(&n->share))
        begin_to_keep(n);
    else if (n->share.fd < 0 || st_loop_add(n->loop, "keeper", n->share.fd, EPOLLIN, on_keeper_gone, n) < 0)
        st_network_say(n, "degraded", "nobody keeps the rules of the network: nothing leaves");
}

int st_network_attach(struct st_network *n, struct st_loop *loop, struct st_error *err)
{
    int rc = 0;

    if (!n->on)
        return 0;
    n->loop = loop;
    if (!n->share.keeper)
        rc = st_loop_add(loop, "keeper", n->share.fd, EPOLLIN, on_keeper_gone, n);
    if (rc == 0)
        rc = st_loop_add(loop, "packets", n->queue_fd, EPOLLIN, on_queue, n);
    if (rc == 0)
        rc = st_loop_add(loop, "flows", n->events_fd, EPOLLIN, st_network_flow_news, n);
    if (rc == 0 && n->links_fd >= 0)
        rc = st_loop_add(loop, "devices", n->links_fd, EPOLLIN, on_links, n);
    if (rc == 0 && n->frames_fd >= 0)
        rc = st_loop_add(loop, "frames", n->frames_fd, EPOLLIN, st_network_on_frames, n);
    if (rc == 0 && n->begun_fd >= 0)
        rc = st_loop_add(loop, "beginnings", n->begun_fd, EPOLLIN, st_network_flow_news, n);
    return rc < 0 ? st_fail(err, -rc, "watch the network") : 0;
}

void st_network_reconsider(struct st_network *n)
{
    struct st_error err = {0};

    if (!n->on)
        return;
    st_network_look_at_policy(n);
    /* Rules are known by their place: that has changed. */
    for (struct st_flow_entry *e = st_flow_book_first(n->book); e; e = st_flow_book_next(e))
        st_network_reassess(n, e);
    if (n->share.keeper)
        st_ruleset_close_all(&n->rules, &err);
    st_network_outside_reconsider(n);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a <= 0 ? b : b <= 0 || a < b ? a : b;
}

int64_t st_network_deadline(const struct st_network *n)
{
    int64_t next = sooner(n->retry_ns, sooner(n->news_ns, n->n_waiting ? n->check_ns : 0));

    return next > 0 ? next : -1;
}

void st_network_tick(struct st_network *n)
{
    int64_t now = st_now_mono_ns();

    if (n->news_ns && now >= n->news_ns)
        st_network_late_news(n);
    if (n->n_waiting && now >= n->check_ns) {
        st_network_lose_patience(n);
        n->check_ns = now + ST_NETWORK_RENEW_NS;
    }
    if (n->retry_ns && now >= n->retry_ns)
        begin_to_keep(n);
}

ST_IDLE_CODE int64_t st_network_renewal(const struct st_network *n)
{
    return n->renew_ns ? n->renew_ns : -1;
}

ST_IDLE_CODE void st_network_renew(struct st_network *n)
{
    struct st_error err = {0};

    st_ruleset_renew(&n->rules, &err);
    if (n->outside.on)
        st_network_outside_tell(n, ST_OUTPOST_RENEW);
    n->renew_ns = st_now_mono_ns() + ST_NETWORK_RENEW_NS;
}

void st_network_cut(struct st_network *n)
{
    struct st_error err = {0};

    if (!n->on || !n->share.keeper)
        return;
    st_network_outside_tell(n, ST_OUTPOST_CUT);
    st_ruleset_cut(&n->rules, &err);
}

static void close_sockets(struct st_network *n)
{
    int *const fds[] = {&n->queue_fd,  &n->events_fd, &n->dump_fd, &n->links_fd,
                        &n->frames_fd, &n->begun_fd,  &n->rules_fd};

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        st_close(fds[i]);
}

void st_network_close(struct st_network *n)
{
    struct st_error err = {0};

    if (!n->on && !n->inherited)
        return;
    st_network_end_sockets(n);
    st_close(&n->diag_fd);
    /* By group, or before the container was met, nobody shares them. */
    if (n->rules.fd > 0 && (n->share.fd < 0 || st_netshare_is_last(&n->share)))
        st_ruleset_remove(&n->rules, &err);
    st_network_outside_close(n, st_netshare_is_last(&n->share));
    if (!n->inherited)
        close_sockets(n);
    st_netshare_leave(&n->share);
    if (n->inherited)
        return;
    st_names_free(n->names);
    st_flow_book_free(n->book);
    st_flows_free(n->streams);
    st_dns_asked_free(n->asked);
    st_dns_tally_free(n->tally);
    st_callers_close(&n->callers);
    st_sock_owners_free(n->owners);
    st_raw_reply_close(&n->replies);
    n->rules = (struct st_ruleset){0};
    n->renew_ns = 0;
    n->on = n->bound = n->lets_begin = false;
    n->logged = 0;
    n->ahead = 0;
}

void st_network_leave(struct st_network *n, const struct st_order_network *order)
{
    struct st_error err = {0};

    if (!n->on || n->inherited || n->outside.on || !order->made || !st_netshare_is_last(&n->share)) {
        st_network_close(n);
        return;
    }
    st_network_end_sockets(n);
    if (n->rules.fd > 0)
        st_ruleset_remove(&n->rules, &err);
    st_netshare_leave(&n->share);
}
