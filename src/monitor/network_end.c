/* network_end: what conntrack tells: flows that began without a question, and what each has carried when it
 * is over. See network.h. */
#include "monitor/network_private.h"

#include "base/clock.h"
#include "sensors/netfilter/conntrack.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>

#define DNS_PORT 53
#define AT_ONCE 256 /* messages, before others get their turn */
#define REST_NS 5000000LL

static struct st_flow_tuple tuple_of(const struct st_ct_flow *flow)
{
    bool echo = flow->protocol == IPPROTO_ICMP || flow->protocol == IPPROTO_ICMPV6;

    return (struct st_flow_tuple){.protocol = flow->protocol,
                                  .src = flow->src,
                                  .dst = flow->dst,
                                  .src_port = echo ? flow->icmp_id : flow->src_port,
                                  .dst_port = echo ? flow->icmp_id : flow->dst_port};
}

/* From the container to itself. In the host's network that is told by nobody's address. */
static bool stays_inside(const struct st_network *n, const struct st_ct_flow *flow)
{
    static const uint8_t six[16] = {[15] = 1};

    if (n->by_group)
        return false;
    if (memcmp(&flow->src, &flow->dst, sizeof(flow->src)) == 0)
        return true;
    return flow->dst.family == 4 ? flow->dst.bytes[0] == 127 : memcmp(flow->dst.bytes, six, sizeof(six)) == 0;
}

static int64_t number(uint64_t n)
{
    return n == UINT64_MAX ? ST_UNKNOWN : n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void name_by_address(struct st_network *n, struct st_event *ev)
{
    struct st_str name;

    if (!st_names_of(n->names, &ev->net.addr, st_network_now_ms(), &name, 1))
        return;
    ev->net.host = name;
    ev->net.host_source = ST_HOST_DNS;
}

/* Who took it in may know it by another address, to which the host translates. */
static struct st_flow_entry *entry_of(const struct st_network *n, const struct st_ct_flow *flow,
                                      struct st_flow_tuple *tuple)
{
    struct st_flow_entry *e;

    *tuple = tuple_of(flow);
    e = st_flow_book_find(n->book, tuple);
    if (e || !n->by_group)
        return e;
    tuple->dst = flow->reply_src;
    if (flow->protocol != IPPROTO_ICMP && flow->protocol != IPPROTO_ICMPV6)
        tuple->dst_port = flow->reply_src_port;
    return st_flow_book_find(n->book, tuple);
}

/* Is it one of ours? In the host's network only what we have judged is: there are others, who mark alike. */
static bool is_ours(const struct st_network *n, const struct st_ct_flow *flow, const struct st_flow_entry *e)
{
    return e || (!n->by_group && flow->mark == ST_MARK_OPEN);
}

/* The kernel answered for us: its destination was allowed before. */
static void on_begin(struct st_network *n, const struct st_ct_flow *flow)
{
    struct st_flow_tuple tuple = tuple_of(flow);
    struct st_event ev;

    if (!is_ours(n, flow, NULL) || st_flow_book_find(n->book, &tuple))
        return;
    ev = st_network_event(n, ST_EV_NETWORK_EGRESS, &tuple);
    name_by_address(n, &ev);
    st_network_begin(n, &ev, &tuple, ST_FLOW_OPEN);
}

static void fill_in(struct st_event *ev, const struct st_ct_flow *flow, const struct st_flow_entry *e)
{
    bool in = ev->type == ST_EV_NETWORK_INGRESS;

    ev->net.state = ST_NET_CLOSED;
    ev->net.bytes_sent = number(flow->bytes[in]);
    ev->net.bytes_received = number(flow->bytes[!in]);
    ev->net.packets_sent = number(flow->packets[in]);
    ev->net.packets_received = number(flow->packets[!in]);
    if (flow->start_ns && flow->stop_ns >= flow->start_ns)
        ev->net.duration_ms = (flow->stop_ns - flow->start_ns) / 1000000;
    else if (e)
        ev->net.duration_ms = st_network_now_ms() - e->since_ms;
    if (!e)
        return;
    ev->net.blocked = e->stage == ST_FLOW_REFUSED;
    if (e->rule != UINT32_MAX)
        ev->net.bytes_sent = (int64_t)e->sent; /* what is limited: data, without headers */
    if (e->host) {
        ev->net.host = st_str(e->host);
        ev->net.host_source = e->host_source;
    }
    ev->process = (struct st_process){.present = e->pid != 0,
                                      .incomplete = true,
                                      .pid = e->pid,
                                      .uid = ST_UNKNOWN,
                                      .gid = ST_UNKNOWN,
                                      .exe = e->exe ? st_str(e->exe) : (struct st_str){0}};
}

static void on_end(struct st_network *n, const struct st_ct_flow *flow)
{
    struct st_flow_tuple tuple;
    struct st_flow_entry *e = entry_of(n, flow, &tuple);
    struct st_event ev =
        st_network_event(n, e && e->ingress ? ST_EV_NETWORK_INGRESS : ST_EV_NETWORK_EGRESS, &tuple);

    if (is_ours(n, flow, e) && (!e || e->stage != ST_FLOW_DNS) && flow->mark != ST_MARK_DNS) {
        if (!e)
            name_by_address(n, &ev);
        fill_in(&ev, flow, e);
        st_pipeline_outcome(n->pipeline, &ev);
    }
    if (e && e->stage == ST_FLOW_DNS)
        st_network_forget_dns(n, &tuple);
    else if (e)
        st_network_forget_flow(n, e);
}

/* A connection to a resolver is in the book both ways, also by lo. */
static void forget_dns(struct st_network *n, const struct st_flow_tuple *t)
{
    struct st_flow_entry *e = st_flow_book_find(n->book, t);

    if (e && (e->stage == ST_FLOW_DNS || e->stage == ST_FLOW_REFUSED))
        st_network_forget_flow(n, e);
}

static void on_news(void *ctx, const struct st_ct_flow *flow)
{
    struct st_network *n = ctx;
    struct st_flow_tuple there = tuple_of(flow), back = st_flow_tuple_reversed(&there);

    n->in_use = true;
    if (flow->ended && flow->protocol == IPPROTO_TCP && flow->dst_port == DNS_PORT) {
        forget_dns(n, &back);
        if (stays_inside(n, flow))
            forget_dns(n, &there);
    }
    if (stays_inside(n, flow) || !n->share.keeper)
        return;
    if (flow->ended)
        on_end(n, flow);
    else
        on_begin(n, flow);
}

static int read_news(struct st_network *n)
{
    int got;

    st_network_hear_begun(n); /* before it is heard of their ends */
    got = st_conntrack_read(n->events_fd, AT_ONCE, on_news, n, &n->unread);
    if (got == -ENOBUFS) {
        n->in_use = true;
        st_network_say(n, "degraded", "news of flows were lost: there were too many at once");
    }
    return got;
}

static void hear(struct st_network *n, uint32_t events)
{
    st_loop_change(n->loop, n->events_fd, events);
    if (n->begun_fd >= 0)
        st_loop_change(n->loop, n->begun_fd, events);
}

/* To be woken for each connection costs a container that makes many more than all else that is done about
 * one. Where the kernel has noted who made it, the news of the next ones can wait. */
void st_network_flow_news(void *ctx, uint32_t events)
{
    struct st_network *n = ctx;

    (void)events;
    read_news(n);
    if (!st_callers_on(&n->callers))
        return;
    hear(n, 0);
    n->news_ns = st_now_mono_ns() + REST_NS;
}

void st_network_late_news(struct st_network *n)
{
    int got = read_news(n);

    if (got != 0) {
        n->news_ns = st_now_mono_ns() + (got == AT_ONCE ? 1 : REST_NS);
        return;
    }
    n->news_ns = 0;
    hear(n, EPOLLIN);
}

void st_network_catch_up(struct st_network *n)
{
    while (st_conntrack_read(n->events_fd, AT_ONCE, on_news, n, &n->unread) > 0)
        continue;
}

/* Still there at the end: what it has carried so far is what it has carried. */
static void on_last(void *ctx, const struct st_ct_flow *flow)
{
    struct st_network *n = ctx;
    struct st_flow_tuple tuple;

    if (!stays_inside(n, flow) && is_ours(n, flow, entry_of(n, flow, &tuple)))
        on_end(n, flow);
}

void st_network_drain(struct st_network *n)
{
    struct st_error err = {0};

    if (!n->on || !n->share.keeper)
        return;
    st_network_hear_begun(n);
    st_network_catch_up(n);
    if (n->unread)
        st_network_say(n, "degraded", "some messages of the kernel could not be read");
    /* The kernel walks through the flows of the whole machine for that: 9 ms. */
    if (n->in_use || n->unread)
        st_conntrack_dump(n->dump_fd, on_last, n, &err);
    /* The dump evicts what had timed out. */
    st_network_catch_up(n);
}
