/* flow_tuple: what tells one flow from all others, as its first packet had it. An echo of ICMP has its id for
 * both ports, as conntrack tells them apart; other protocols without ports have zeros. */
#pragma once

#include "base/keyed_hash.h"
#include "sensors/net/packet.h"

struct st_flow_tuple {
    uint8_t protocol;
    struct st_addr src, dst;
    uint16_t src_port, dst_port;
};

struct st_flow_tuple st_flow_tuple_of(const struct st_packet *packet);

/* Of what comes back. */
struct st_flow_tuple st_flow_tuple_reversed(const struct st_flow_tuple *t);

bool st_flow_tuple_equal(const struct st_flow_tuple *a, const struct st_flow_tuple *b);
uint64_t st_flow_tuple_hash(const struct st_hash_key *key, const struct st_flow_tuple *t);
