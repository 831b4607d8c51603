/* network_name: a flow to an address that is allowed for the sake of a name shows which name it means: in its
 * TLS hello, or its HTTP request. See network.h.
 *
 * Nothing of it leaves before that: packets whose name is not complete wait in the queue, and go in their
 * order once it is. Who keeps us waiting for too long is refused. */
#include "base/mem.h"
#include "monitor/network_private.h"
#include "sensors/net/checksum.h"
#include "sensors/net/http_head.h"
#include "sensors/net/tls_hello.h"

#include <netinet/in.h> /* before what the kernel has of the same */

#include <linux/netfilter.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_HOPS 32  /* what ends on the way is for us, and not for the server */
#define MAX_WAITING 32 /* packets of one flow */
#define MAX_WAITING_BYTES 32768
#define PATIENCE_MS 10000 /* from the first of them on */

#define TELLS_NOTHING "its first bytes do not tell for which name it is"

/* ---- what it shows ---- */

struct shown {
    bool known; /* else more must come */
    char host[ST_HOST_SIZE];
    size_t len;
    enum st_host_source source;
    const char *why; /* it shows none, or one that can't be believed */
};

static void look_at_hello(const uint8_t *bytes, size_t len, struct shown *out)
{
    struct st_tls_hello hello;

    out->source = ST_HOST_SNI;
    switch (st_tls_hello_read(bytes, len, &hello)) {
    case ST_HELLO_MORE: return;
    case ST_HELLO_DONE: break;
    case ST_HELLO_NOT_TLS: out->why = "neither TLS nor HTTP: which name it is for can't be told"; break;
    case ST_HELLO_SSL2: out->why = "the hello of SSL 2, which has no name in it"; break;
    case ST_HELLO_MALFORMED: out->why = hello.why; break;
    }
    out->known = true;
    if (out->why)
        return;
    if (hello.ech)
        out->why = "the TLS hello hides its name (encrypted hello)";
    else if (!hello.sni_len)
        out->why = "the TLS hello has no name in it";
    memcpy(out->host, hello.sni, sizeof(out->host));
    out->len = hello.sni_len;
}

static void look_at_head(const uint8_t *bytes, size_t len, struct shown *out)
{
    struct st_http_head head;

    out->source = ST_HOST_HTTP;
    switch (st_http_head_read(bytes, len, &head)) {
    case ST_HEAD_MORE: return;
    case ST_HEAD_DONE: break;
    case ST_HEAD_NOT_HTTP: out->why = "neither TLS nor HTTP: which name it is for can't be told"; break;
    case ST_HEAD_H2: out->why = "HTTP/2 without TLS: its names are not read"; break;
    case ST_HEAD_MALFORMED: out->why = head.why; break;
    }
    out->known = true;
    if (out->why)
        return;
    if (head.connect)
        out->why = "asks a proxy to connect elsewhere";
    else if (!head.host.host_len)
        out->why = "the HTTP request names no host";
    memcpy(out->host, head.host.host, sizeof(out->host));
    out->len = head.host.host_len;
}

/* SSH shows no names, and its servers serve none but themselves: at its port it goes by the name of the
 * address. What is there so far may be the beginning of it. */
static bool may_be_ssh(const uint8_t *bytes, size_t len, const struct st_flow_entry *e)
{
    return e->tuple.dst_port == 22 && e->host && memcmp(bytes, "SSH-2.0-", len < 8 ? len : 8) == 0;
}

static void look(const uint8_t *bytes, size_t len, const struct st_flow_entry *e, struct shown *out)
{
    *out = (struct shown){0};
    if (!len)
        return;
    if (may_be_ssh(bytes, len, e)) {
        out->known = len >= 8;
        out->source = e->host_source;
        out->len = strlen(e->host);
        memcpy(out->host, e->host, out->len + 1);
    } else if (bytes[0] == 0x16 || bytes[0] >= 0x80) {
        look_at_hello(bytes, len, out);
    } else {
        look_at_head(bytes, len, out);
    }
}

/* ---- packets that wait ---- */

/* For the name of their flow: struct st_flow_entry's user. */
struct waiting {
    int64_t since_ms;
    size_t n, bytes;
    struct {
        struct st_nfqueue_ticket ticket;
        uint8_t *copy;
        size_t len;
    } packets[MAX_WAITING];
};

static bool keep_waiting(struct st_network *n, struct st_flow_entry *e, const struct st_arrival *a)
{
    struct waiting *w = e->user;

    if (!w) {
        w = e->user = st_xcalloc(1, sizeof(*w));
        w->since_ms = a->now_ms;
        if (n->n_waiting++ == 0)
            n->check_ns = a->seen_ns + 1000000000;
    }
    w->bytes += a->seen->len;
    if (w->n == MAX_WAITING || w->bytes > MAX_WAITING_BYTES)
        return false;
    w->packets[w->n].ticket = a->seen->ticket;
    w->packets[w->n].copy = st_network_copy(a);
    w->packets[w->n++].len = a->seen->len;
    return true;
}

static bool waits_too_long(const struct st_flow_entry *e, int64_t now_ms)
{
    const struct waiting *w = e->user;

    return w && now_ms - w->since_ms > PATIENCE_MS;
}

static void forget_waiting(struct st_network *n, struct st_flow_entry *e)
{
    struct waiting *w = e->user;

    for (size_t i = 0; w && i < w->n; i++)
        free(w->packets[i].copy);
    if (w)
        n->n_waiting--;
    free(w);
    e->user = NULL;
}

/* In the order in which they came. */
static void let_waiting_go(struct st_network *n, struct st_flow_entry *e, uint32_t mark)
{
    const struct waiting *w = e->user;

    for (size_t i = 0; w && i < w->n; i++)
        st_network_accept_copy(n, w->packets[i].ticket, mark, w->packets[i].copy, w->packets[i].len);
    forget_waiting(n, e);
}

static void drop_waiting(struct st_network *n, struct st_flow_entry *e)
{
    const struct waiting *w = e->user;

    for (size_t i = 0; w && i < w->n; i++)
        st_network_drop(n, w->packets[i].ticket);
    forget_waiting(n, e);
}

static void end_stream(struct st_network *n, const struct st_flow_entry *e)
{
    const struct st_flow_key key = {e->tuple.src, e->tuple.dst, e->tuple.src_port, e->tuple.dst_port};
    struct st_flow *stream = e->tuple.protocol == IPPROTO_TCP ? st_flows_find(n->streams, &key) : NULL;

    if (stream)
        st_flows_close(n->streams, stream);
}

void st_network_forget_flow(struct st_network *n, struct st_flow_entry *e)
{
    drop_waiting(n, e);
    end_stream(n, e);
    st_flow_book_remove(n->book, e);
}

/* ---- what it comes to ---- */

static void refuse(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e,
                   const struct shown *shown, const char *why)
{
    char host[ST_HOST_SIZE];
    size_t len = shown->len;
    enum st_host_source source = shown->len ? shown->source : e->host_source;

    if (len)
        memcpy(host, shown->host, len);
    else if (e->host && strlen(e->host) < sizeof(host))
        memcpy(host, e->host, len = strlen(e->host));
    st_network_forget_flow(n, e);
    st_network_abandon(n, a);
    st_network_refuse(n, a, ST_EV_NETWORK_EGRESS, len ? (struct st_str){host, len} : (struct st_str){0},
                      source, why);
}

static bool has_name(struct st_network *n, const struct st_addr *addr, const struct shown *shown,
                     int64_t now_ms)
{
    struct st_str names[ST_NAMES_PER_ADDR];
    size_t count = st_names_of(n->names, addr, now_ms, names, ST_NAMES_PER_ADDR);

    for (size_t i = 0; i < count; i++)
        if (names[i].len == shown->len && memcmp(names[i].p, shown->host, shown->len) == 0)
            return true;
    return false;
}

static void on_shown(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e,
                     const struct shown *shown)
{
    struct st_event ev = st_network_event(n, ST_EV_NETWORK_EGRESS, &a->tuple);
    struct st_arrival told = *a;
    struct st_verdict v = {0};

    told.as_seen = true;
    ev.net.host = (struct st_str){shown->host, shown->len};
    ev.net.host_source = shown->source;
    if (shown->why) {
        refuse(n, a, e, shown, shown->why);
        return;
    }
    if (!has_name(n, &a->tuple.dst, shown, a->now_ms)) {
        refuse(n, a, e, shown, "it is for another name than those that its address was given");
        return;
    }
    if (!st_pipeline_would_let(n->pipeline, &ev, &v)) {
        refuse(n, a, e, shown, "it is for a name that the policy refuses");
        return;
    }
    e->rule = st_network_limiting_rule(n, &v); /* of this name, which need not be the one that it began by */
    st_flow_set_host(e, ev.net.host, shown->source);
    end_stream(n, e);
    e->stage = e->rule != UINT32_MAX ? ST_FLOW_COUNT : ST_FLOW_OPEN;
    if (e->rule != UINT32_MAX && !st_network_within_limit(n, e, a->packet.payload_len)) {
        drop_waiting(n, e);
        st_network_count(n, a, e);
        return;
    }
    let_waiting_go(n, e, e->rule != UINT32_MAX ? ST_MARK_COUNT : ST_MARK_OPEN);
    if (e->rule != UINT32_MAX)
        st_network_count(n, &told, e);
    else
        st_network_accept_seen(n, a, ST_MARK_OPEN);
}

/* A wrong checksum, or a way too short, and we alone would have heard it. */
static const char *not_for_the_server(const struct st_arrival *a)
{
    if ((a->packet.tcp_flags & (ST_TCP_SYN | ST_TCP_RST | ST_TCP_ACK)) != ST_TCP_ACK)
        return "data in a segment from which its server would take none";
    /* The kernel leaves the sum of its own segments to the device. Who writes them by hand can make such that
     * we read and the server throws away: by an old time or acknowledgement, or a signature. */
    if (a->seen->hook == NF_INET_LOCAL_OUT && !a->seen->checksum_pending)
        return "a segment of a connection that was written by hand";
    if (a->packet.hops < LEAST_HOPS)
        return "a segment that ends on the way to its server";
    if (!a->seen->checksum_pending && !st_checksum_right(a->seen->bytes, &a->packet))
        return "a segment with a wrong checksum, which its server would not take";
    return NULL;
}

/* Nothing new: the first copy waits, or it has no data. */
static void on_repeated(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e)
{
    const struct shown nothing = {0};

    if (waits_too_long(e, a->now_ms))
        refuse(n, a, e, &nothing, TELLS_NOTHING);
    else if (a->packet.payload_len)
        st_network_drop(n, a->seen->ticket);
    else
        st_network_accept(n, a->seen->ticket, ST_MARK_NAME);
}

void st_network_check_name(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e)
{
    const char *odd = a->packet.payload_len ? not_for_the_server(a) : NULL;
    struct shown shown = {0};
    struct st_flow *stream = NULL;
    const uint8_t *bytes;
    size_t len;

    if (odd) {
        refuse(n, a, e, &shown, odd);
        return;
    }
    switch (st_flows_packet(n->streams, &a->packet, a->now_ms, &stream)) {
    case ST_SEGMENT_UNKNOWN:
    case ST_SEGMENT_FULL: refuse(n, a, e, &shown, "its beginning was not seen"); return;
    case ST_SEGMENT_REFUSED:
        refuse(n, a, e, &shown, stream ? st_flow_why(stream) : "its beginning can't be read");
        return;
    case ST_SEGMENT_WAITS:
        st_network_drop(n, a->seen->ticket);
        return; /* it comes again, after what is missing */
    case ST_SEGMENT_NOTHING: on_repeated(n, a, e); return;
    case ST_SEGMENT_MORE: break;
    }
    bytes = st_flow_bytes(stream, &len);
    look(bytes, len, e, &shown);
    if (shown.known)
        on_shown(n, a, e, &shown);
    else if (keep_waiting(n, e, a))
        e->sent += a->packet.payload_len;
    else
        refuse(n, a, e, &shown, TELLS_NOTHING);
}

/* The kernel does not send again what still waits: nobody but the clock tells. */
void st_network_lose_patience(struct st_network *n)
{
    int64_t now_ms = st_network_now_ms();

    for (struct st_flow_entry *e = st_flow_book_first(n->book), *next; e && n->n_waiting; e = next) {
        struct st_operation none = ST_OPERATION_NONE;
        struct st_event ev;

        next = st_flow_book_next(e);
        if (e->stage != ST_FLOW_NAME || !waits_too_long(e, now_ms))
            continue;
        ev = st_network_event(n, ST_EV_NETWORK_EGRESS, &e->tuple);
        ev.net.blocked = n->enforce;
        if (e->host) {
            ev.net.host = st_str(e->host);
            ev.net.host_source = e->host_source;
        }
        let_waiting_go(n, e, n->enforce ? ST_MARK_REFUSED : ST_MARK_OPEN);
        e->stage = n->enforce ? ST_FLOW_REFUSED : ST_FLOW_OPEN;
        end_stream(n, e);
        if (n->enforce)
            st_pipeline_refuse(n->pipeline, &ev, &none, TELLS_NOTHING);
    }
}
