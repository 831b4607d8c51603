/* flow_tuple: see flow_tuple.h. */
#include "sensors/net/flow_tuple.h"

#include "sensors/net/cursor.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <string.h>

static bool is_echo(const struct st_packet *packet)
{
    if (packet->fragment || packet->payload_len < 8)
        return false;
    if (packet->protocol == IPPROTO_ICMP)
        return packet->icmp_type == ICMP_ECHO || packet->icmp_type == ICMP_ECHOREPLY;
    return packet->protocol == IPPROTO_ICMPV6 &&
           (packet->icmp_type == ICMP6_ECHO_REQUEST || packet->icmp_type == ICMP6_ECHO_REPLY);
}

struct st_flow_tuple st_flow_tuple_of(const struct st_packet *packet)
{
    struct st_flow_tuple t = {
        .protocol = packet->protocol,
        .src = packet->src,
        .dst = packet->dst,
        .src_port = packet->src_port,
        .dst_port = packet->dst_port,
    };

    if (is_echo(packet))
        t.src_port = t.dst_port = (uint16_t)(packet->payload[4] << 8 | packet->payload[5]);
    return t;
}

struct st_flow_tuple st_flow_tuple_reversed(const struct st_flow_tuple *t)
{
    return (struct st_flow_tuple){
        .protocol = t->protocol,
        .src = t->dst,
        .dst = t->src,
        .src_port = t->dst_port,
        .dst_port = t->src_port,
    };
}

bool st_flow_tuple_equal(const struct st_flow_tuple *a, const struct st_flow_tuple *b)
{
    return a->protocol == b->protocol && a->src_port == b->src_port && a->dst_port == b->dst_port &&
           st_addr_equal(&a->src, &b->src) && st_addr_equal(&a->dst, &b->dst);
}

uint64_t st_flow_tuple_hash(const struct st_hash_key *key, const struct st_flow_tuple *t)
{
    uint8_t bytes[39] = {t->protocol, t->src.family, t->dst.family};

    st_store16(bytes + 3, t->src_port);
    st_store16(bytes + 5, t->dst_port);
    memcpy(bytes + 7, t->src.bytes, 16);
    memcpy(bytes + 23, t->dst.bytes, 16);
    return st_keyed_hash(key, bytes, sizeof(bytes));
}
