/* reassembly: see reassembly.h. */
#include "sensors/net/reassembly.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 1024

struct st_flow {
    struct st_flow_key key;
    struct st_flow *next; /* in its bucket */
    uint32_t first;       /* sequence number of bytes[0] */
    size_t n;             /* bytes up to the first gap */
    size_t segments;      /* with data, so far */
    size_t room;          /* of bytes */
    uint8_t *bytes;       /* none until there are data: many half-open connections cost little */
    uint8_t *have;        /* a bit for each byte */
    int64_t heard_ms;
    const char *why;
};

struct st_flows {
    size_t max_flows, max_bytes, n, n_buckets; /* n_buckets: a power of two */
    struct st_flow **buckets;
};

/* ---- the table ---- */

struct st_flows *st_flows_new(size_t max_flows, size_t max_bytes)
{
    struct st_flows *flows = st_xcalloc(1, sizeof(*flows));

    flows->max_flows = max_flows;
    flows->max_bytes = max_bytes;
    for (flows->n_buckets = 1; flows->n_buckets < max_flows;)
        flows->n_buckets *= 2;
    flows->buckets = st_xpages(flows->n_buckets, sizeof(struct st_flow *));
    return flows;
}

static void free_flow(struct st_flow *flow)
{
    free(flow->bytes);
    free(flow->have);
    free(flow);
}

void st_flows_free(struct st_flows *flows)
{
    if (!flows)
        return;
    st_flows_expire(flows, INT64_MAX);
    st_free_pages(flows->buckets, flows->n_buckets, sizeof(struct st_flow *));
    free(flows);
}

size_t st_flows_count(const struct st_flows *flows)
{
    return flows->n;
}

/* FNV-1a. Who makes all flows fall into one bucket makes us walk max_flows of them, no more. */
static size_t bucket_of(const struct st_flows *flows, const struct st_flow_key *key)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < sizeof(key->dst.bytes); i++)
        hash = ((hash ^ key->dst.bytes[i]) * 16777619u ^ key->src.bytes[i]) * 16777619u;
    hash = (hash ^ key->src_port) * 16777619u;
    hash = (hash ^ key->dst_port) * 16777619u;
    return (hash ^ hash >> 16) & (flows->n_buckets - 1);
}

static bool same_key(const struct st_flow_key *a, const struct st_flow_key *b)
{
    return a->src_port == b->src_port && a->dst_port == b->dst_port && st_addr_equal(&a->src, &b->src) &&
           st_addr_equal(&a->dst, &b->dst);
}

struct st_flow *st_flows_find(const struct st_flows *flows, const struct st_flow_key *key)
{
    struct st_flow *flow = flows->buckets[bucket_of(flows, key)];

    while (flow && !same_key(&flow->key, key))
        flow = flow->next;
    return flow;
}

static void refuse(struct st_flow *flow, const char *why)
{
    if (!flow->why)
        flow->why = why;
}

struct st_flow *st_flows_open(struct st_flows *flows, const struct st_flow_key *key, uint32_t first,
                              int64_t now_ms)
{
    struct st_flow *flow = st_flows_find(flows, key), **bucket;

    if (flow) {
        /* The other side keeps to the first beginning; so do we, and to neither once they differ. */
        if (flow->first != first)
            refuse(flow, "a second beginning of one connection");
        flow->heard_ms = now_ms;
        return flow;
    }
    if (flows->n == flows->max_flows)
        return NULL;
    bucket = &flows->buckets[bucket_of(flows, key)];
    flow = st_xcalloc(1, sizeof(*flow));
    flow->key = *key;
    flow->first = first;
    flow->heard_ms = now_ms;
    flow->next = *bucket;
    *bucket = flow;
    flows->n++;
    return flow;
}

void st_flows_close(struct st_flows *flows, struct st_flow *flow)
{
    struct st_flow **at = &flows->buckets[bucket_of(flows, &flow->key)];

    while (*at != flow)
        at = &(*at)->next;
    *at = flow->next;
    flows->n--;
    free_flow(flow);
}

size_t st_flows_expire(struct st_flows *flows, int64_t before_ms)
{
    size_t before = flows->n;

    for (size_t i = 0; i < flows->n_buckets; i++)
        for (struct st_flow **at = &flows->buckets[i]; *at;) {
            struct st_flow *flow = *at;

            if (flow->heard_ms >= before_ms) {
                at = &flow->next;
                continue;
            }
            *at = flow->next;
            flows->n--;
            free_flow(flow);
        }
    return before - flows->n;
}

/* ---- the bytes ---- */

static void make_room(struct st_flow *flow, size_t need)
{
    size_t room = flow->room ? flow->room : FIRST_ROOM;

    if (need <= flow->room)
        return;
    while (room < need)
        room *= 2;
    flow->bytes = st_xrealloc(flow->bytes, room);
    flow->have = st_xrealloc(flow->have, room / 8);
    memset(flow->have + flow->room / 8, 0, (room - flow->room) / 8);
    flow->room = room;
}

/* false: a byte is there already, and is another. */
static bool put_bytes(struct st_flow *flow, size_t at, const uint8_t *data, size_t len)
{
    make_room(flow, at + len);
    for (size_t i = 0; i < len; i++) {
        uint8_t *have = &flow->have[(at + i) / 8], bit = (uint8_t)(1u << (at + i) % 8);

        if (*have & bit && flow->bytes[at + i] != data[i])
            return false;
        *have |= bit;
        flow->bytes[at + i] = data[i];
    }
    return true;
}

static void find_gap(struct st_flow *flow)
{
    while (flow->n < flow->room && flow->have[flow->n / 8] >> flow->n % 8 & 1)
        flow->n++;
}

static enum st_segment_is put_segment(struct st_flow *flow, size_t max_bytes, uint32_t seq,
                                      const uint8_t *data, size_t len)
{
    size_t at = seq - flow->first, before = flow->n;

    if (len == 0)
        return ST_SEGMENT_NOTHING;
    if (at == UINT32_MAX && len == 1) /* a probe whether anybody is still there */
        return ST_SEGMENT_NOTHING;
    if (flow->segments++ == ST_FLOW_MAX_SEGMENTS) {
        refuse(flow, "more segments than a beginning needs");
        return ST_SEGMENT_REFUSED;
    }
    if (at >= max_bytes) {
        refuse(flow, at > INT32_MAX ? "data before the beginning" : "data beyond what may be looked at");
        return ST_SEGMENT_REFUSED;
    }
    if (len > max_bytes - at)
        len = max_bytes - at;
    if (!put_bytes(flow, at, data, len)) {
        refuse(flow, "two contents for one byte of the stream");
        return ST_SEGMENT_REFUSED;
    }
    find_gap(flow);
    if (flow->n > before)
        return ST_SEGMENT_MORE;
    return at > flow->n ? ST_SEGMENT_WAITS : ST_SEGMENT_NOTHING;
}

enum st_segment_is st_flows_packet(struct st_flows *flows, const struct st_packet *packet, int64_t now_ms,
                                   struct st_flow **flow)
{
    struct st_flow_key key = {packet->src, packet->dst, packet->src_port, packet->dst_port};
    bool syn = packet->tcp_flags & ST_TCP_SYN;
    uint32_t seq = packet->tcp_seq + syn; /* a SYN has a number of its own, before the data */

    *flow = syn ? st_flows_open(flows, &key, seq, now_ms) : st_flows_find(flows, &key);
    if (!*flow)
        return syn ? ST_SEGMENT_FULL : ST_SEGMENT_UNKNOWN;
    (*flow)->heard_ms = now_ms;
    if (packet->tcp_flags & ST_TCP_URG) /* some receivers take such a byte out of the stream, others do not */
        refuse(*flow, "urgent data");
    if ((*flow)->why)
        return ST_SEGMENT_REFUSED;
    return put_segment(*flow, flows->max_bytes, seq, packet->payload, packet->payload_len);
}

const uint8_t *st_flow_bytes(const struct st_flow *flow, size_t *n)
{
    *n = flow->n;
    return flow->bytes;
}

const char *st_flow_why(const struct st_flow *flow)
{
    return flow->why;
}
