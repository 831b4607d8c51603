/* reassembly: the first bytes of TCP streams, out of segments as they come: late, twice, out of order. For
 * those who need a stream's beginning to judge it (tls_hello.h, http_head.h), or all of a short one (DNS).
 *
 * Each flow has one owner, the table, until it is closed. All is bounded: how many flows, how many bytes of
 * each. A flow for which there is no room, or whose sender says two things about one byte, is refused: what
 * the other side would make of it can't be known. */
#pragma once

#include "sensors/net/packet.h"

/* With data, of one flow. Who judges reads from the beginning with each one: a stream that comes byte by byte
 * must not cost us its square. */
#define ST_FLOW_MAX_SEGMENTS 1024

struct st_flow_key {
    struct st_addr src, dst;
    uint16_t src_port, dst_port;
};

enum st_segment_is {
    ST_SEGMENT_MORE,    /* the stream has grown by it */
    ST_SEGMENT_NOTHING, /* no data, or none that were not there before */
    ST_SEGMENT_WAITS,   /* something before it is missing */
    ST_SEGMENT_UNKNOWN, /* of a flow whose beginning was not seen */
    ST_SEGMENT_FULL,    /* of a new flow for which there is no room */
    ST_SEGMENT_REFUSED  /* as is all that comes after it: st_flow_why() */
};

struct st_flows;
struct st_flow;

/* At most max_flows at a time, of each the first max_bytes. */
struct st_flows *st_flows_new(size_t max_flows, size_t max_bytes);
void st_flows_free(struct st_flows *flows);
size_t st_flows_count(const struct st_flows *flows);

/* A TCP packet, no fragment. A SYN opens its flow; *flow is NULL where there is none. Of a segment that
 * reaches beyond max_bytes the part before counts; one that begins there is refused. */
enum st_segment_is st_flows_packet(struct st_flows *flows, const struct st_packet *packet, int64_t now_ms,
                                   struct st_flow **flow);

/* For a flow whose SYN is not seen: first is the number of the first byte that counts. Who takes the first
 * segment's for it trusts that no raw socket sent a later one first. NULL: no room. */
struct st_flow *st_flows_open(struct st_flows *flows, const struct st_flow_key *key, uint32_t first,
                              int64_t now_ms);
struct st_flow *st_flows_find(const struct st_flows *flows, const struct st_flow_key *key);
void st_flows_close(struct st_flows *flows, struct st_flow *flow);

/* Closes all that nothing was heard of since then. Returns how many. */
size_t st_flows_expire(struct st_flows *flows, int64_t before_ms);

/* The stream up to the first gap; valid until the flow's next packet. */
const uint8_t *st_flow_bytes(const struct st_flow *flow, size_t *n);

/* Why it is refused, in words; NULL: it is not. */
const char *st_flow_why(const struct st_flow *flow);
