/* packet_reply: a packet that answers another, as if its receiver had: addresses and ports the other way
 * round, checksums right. All return the length, and 0 where there is nothing to answer (malformed, a
 * fragment, another protocol, a reset) or no room. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* IPv6 and TCP or UDP headers. */
#define ST_REPLY_HEADERS 60

/* To a UDP packet, with this payload. */
size_t st_packet_udp_reply(const uint8_t *packet, size_t n, const uint8_t *payload, size_t len, uint8_t *out,
                           size_t room);

/* As if from this port (0: the one it went to), for a packet whose destination was translated before we saw
 * it: its sender knows only the port that it wrote. */
size_t st_packet_udp_reply_from(const uint8_t *packet, size_t n, uint16_t from_port, const uint8_t *payload,
                                size_t len, uint8_t *out, size_t room);

/* To a TCP packet: a reset that its sender accepts (RFC 9293, 3.5.2). */
size_t st_packet_tcp_reset(const uint8_t *packet, size_t n, uint8_t *out, size_t room);

/* To a TCP packet of a connection that is there: these bytes, as what comes next from the other side, which
 * takes all of the packet's. What the two sides think of the connection differs from then on: end it by a
 * reset behind them (st_packet_tcp_reset_after). */
size_t st_packet_tcp_reply(const uint8_t *packet, size_t n, const uint8_t *payload, size_t len, uint8_t *out,
                           size_t room);
size_t st_packet_tcp_reset_after(const uint8_t *packet, size_t n, size_t len, uint8_t *out, size_t room);

/* In the place of a TCP packet of a connection that is there: a reset to whom it is for, who would wait for
 * ever. */
size_t st_packet_tcp_abandon(const uint8_t *packet, size_t n, uint8_t *out, size_t room);
