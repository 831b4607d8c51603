/* checksum: see checksum.h. */
#include "sensors/net/checksum.h"

#include <netinet/in.h>

/* At most 64 KiB and a few words: no carry is lost. */
static uint32_t add_words(uint32_t sum, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i + 1 < n; i += 2)
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    if (n % 2)
        sum += (uint32_t)bytes[n - 1] << 8;
    return sum;
}

static uint16_t folded(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

uint16_t st_checksum_header(const uint8_t *header, size_t n)
{
    return folded(add_words(0, header, n));
}

/* Over both addresses, the protocol, the length, and the bytes themselves. */
uint16_t st_checksum_transport(const uint8_t *packet, uint8_t version, uint8_t protocol,
                               const uint8_t *transport, size_t n)
{
    uint32_t sum = (uint32_t)protocol + (uint32_t)n;

    sum = version == 4 ? add_words(sum, packet + 12, 8) : add_words(sum, packet + 8, 32);
    return folded(add_words(sum, transport, n));
}

bool st_checksum_right(const uint8_t *bytes, const struct st_packet *packet)
{
    const uint8_t *transport = packet->transport;
    size_t n;

    if (!transport || packet->rerouted)
        return false;
    if (packet->protocol != IPPROTO_TCP && packet->protocol != IPPROTO_UDP)
        return false;
    if (packet->protocol == IPPROTO_UDP && transport[6] == 0 && transport[7] == 0)
        return packet->version == 4;
    n = (size_t)(packet->payload + packet->payload_len - transport);
    return st_checksum_transport(bytes, packet->version, packet->protocol, transport, n) == 0;
}
