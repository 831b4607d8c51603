/* Any bytes as a packet: what is read lies within it, and a reply reads as a reply: the other way round, with
 * checksums that add up. */
#include "sensors/net/checksum.h"
#include "sensors/net/packet.h"
#include "sensors/net/packet_reply.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* All words, the checksum among them, add up to all ones. */
static bool sums_up(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint64_t sum)
{
    for (size_t i = 0; i < n_a; i++)
        sum += i % 2 ? a[i] : (uint64_t)a[i] << 8;
    for (size_t i = 0; i < n_b; i++)
        sum += i % 2 ? b[i] : (uint64_t)b[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

static void check_reply(const struct st_packet *to, const uint8_t *out, size_t n, struct st_packet *reply)
{
    bool four = to->version == 4;
    size_t header = four ? 20 : 40, addrs = four ? 8 : 32;

    demand(st_packet_read(out, n, reply));
    demand(reply->version == to->version && reply->protocol == to->protocol && !reply->fragment);
    demand(memcmp(&reply->src, &to->dst, sizeof(reply->src)) == 0);
    demand(memcmp(&reply->dst, &to->src, sizeof(reply->src)) == 0);
    demand(reply->src_port == to->dst_port && reply->dst_port == to->src_port);
    if (four)
        demand(sums_up(out, 20, NULL, 0, 0));
    demand(st_checksum_right(out, reply));
    demand(sums_up(out + header - addrs, addrs, out + header, n - header, to->protocol + n - header));
}

/* A reply with the first len bytes of its own payload. */
static void check_udp(const uint8_t *data, size_t size, const struct st_packet *packet, size_t len)
{
    static uint8_t out[70000];
    struct st_packet reply;
    size_t n = st_packet_udp_reply(data, size, packet->payload, len, out, sizeof(out));

    if (n == 0) {
        demand(len > UINT16_MAX - ST_REPLY_HEADERS);
        return;
    }
    check_reply(packet, out, n, &reply);
    demand(reply.payload_len == len);
    demand(memcmp(reply.payload, packet->payload, reply.payload_len) == 0);
}

static void check_tcp(const uint8_t *data, size_t size, const struct st_packet *packet)
{
    uint8_t out[ST_REPLY_HEADERS];
    struct st_packet reply;
    size_t n = st_packet_tcp_reset(data, size, out, sizeof(out));

    demand((n == 0) == !!(packet->tcp_flags & ST_TCP_RST));
    if (n == 0)
        return;
    check_reply(packet, out, n, &reply);
    demand(reply.tcp_flags & ST_TCP_RST && reply.payload_len == 0);
    demand(st_packet_tcp_reset(out, n, out, sizeof(out)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct st_packet packet;

    if (!st_packet_read(data, size, &packet)) {
        demand(packet.why != NULL);
        return 0;
    }
    demand(packet.src.family && packet.dst.family);
    if (packet.fragment) {
        demand(!packet.payload && !packet.has_ports);
        return 0;
    }
    demand(packet.payload >= data && packet.payload + packet.payload_len <= data + size);
    demand(packet.transport >= data && packet.transport <= packet.payload);
    st_checksum_right(data, &packet);
    if (packet.protocol == IPPROTO_UDP) {
        check_udp(data, size, &packet, packet.payload_len);
        check_udp(data, size, &packet, packet.payload_len - (packet.payload_len > 0));
    }
    if (packet.protocol == IPPROTO_TCP)
        check_tcp(data, size, &packet);
    return 0;
}
