/* packet: an IPv4 or IPv6 packet as netfilter hands it over, from the IP header on: who, to whom, what of. A
 * packet that is not what its lengths say, or not whole, is refused. Checksums are not looked at: what leaves
 * a machine has them filled in by its card. */
#pragma once

#include "model/addr.h"

#include <stddef.h>

#define ST_TCP_FIN 0x01
#define ST_TCP_SYN 0x02
#define ST_TCP_RST 0x04
#define ST_TCP_PSH 0x08
#define ST_TCP_ACK 0x10
#define ST_TCP_URG 0x20

struct st_packet {
    uint8_t version; /* 4 or 6, of the header; an address may be IPv4 all the same (mapped) */
    struct st_addr src, dst;
    uint8_t hops;     /* how far it may go: what ends on the way was for us, and for nobody else */
    uint8_t protocol; /* IPPROTO_*, behind all extension headers */
    bool fragment;    /* a piece of a packet; ports, types and payload are not told */
    bool rerouted;    /* by options or a routing header it goes elsewhere than dst */
    bool has_ports;   /* TCP, UDP, UDP-Lite, SCTP, DCCP */
    uint16_t src_port, dst_port;
    uint8_t icmp_type, icmp_code; /* ICMP, ICMPv6 */
    uint32_t tcp_seq, tcp_ack;
    uint8_t tcp_flags;
    const uint8_t *transport; /* what stands behind the IP headers, up to the end of the payload */
    const uint8_t *payload;   /* of TCP and UDP: their data; of others: all behind the IP headers */
    size_t payload_len;
    const char *why; /* of a failure, in words */
};

/* Borrows bytes. false: malformed, with the reason in out->why. */
bool st_packet_read(const uint8_t *bytes, size_t n, struct st_packet *out);
