/* checksum: of IPv4 headers, TCP and UDP (RFC 1071). A segment with a wrong one is heard by us and by no one
 * else: who judges by it must look, unless the kernel says that the sum is yet to be filled in. */
#pragma once

#include "sensors/net/packet.h"

/* Of a header in which the sum itself is 0. */
uint16_t st_checksum_header(const uint8_t *header, size_t n);

/* Of what stands at transport, in a packet of this version with its addresses in place. Over a right sum, as
 * it stands in the packet, this gives 0. */
uint16_t st_checksum_transport(const uint8_t *packet, uint8_t version, uint8_t protocol,
                               const uint8_t *transport, size_t n);

/* Is the sum of a TCP or UDP packet right, or one that UDP may leave out? packet was read from bytes. false
 * also for other protocols, fragments, and packets that go elsewhere than their address says. */
bool st_checksum_right(const uint8_t *bytes, const struct st_packet *packet);
