/* packet_reply: see packet_reply.h. Addresses are taken from the packet as they stand in it, for those of
 * struct st_packet have no mapped form. */
#include "sensors/net/packet_reply.h"

#include "sensors/net/checksum.h"
#include "sensors/net/cursor.h"
#include "sensors/net/packet.h"

#include <netinet/in.h>
#include <string.h>

#define HOPS 64
#define UDP_HEADER 8
#define TCP_HEADER 20

static size_t ip_header_size(const struct st_packet *to)
{
    return to->version == 4 ? 20 : 40;
}

/* The IP header for len bytes of this protocol. */
static void write_ip(const struct st_packet *to, const uint8_t *packet, size_t len, uint8_t *out)
{
    memset(out, 0, ip_header_size(to));
    if (to->version == 4) {
        out[0] = 0x45;
        st_store16(out + 2, (unsigned)(20 + len));
        out[6] = 0x40; /* not to be taken apart */
        out[8] = HOPS;
        out[9] = to->protocol;
        memcpy(out + 12, packet + 16, 4);
        memcpy(out + 16, packet + 12, 4);
        st_store16(out + 10, st_checksum_header(out, 20));
        return;
    }
    out[0] = 0x60;
    st_store16(out + 4, (unsigned)len);
    out[6] = to->protocol;
    out[7] = HOPS;
    memcpy(out + 8, packet + 24, 16);
    memcpy(out + 24, packet + 8, 16);
}

static bool answerable(const uint8_t *packet, size_t n, uint8_t protocol, struct st_packet *to)
{
    return st_packet_read(packet, n, to) && !to->fragment && to->protocol == protocol;
}

size_t st_packet_udp_reply(const uint8_t *packet, size_t n, const uint8_t *payload, size_t len, uint8_t *out,
                           size_t room)
{
    return st_packet_udp_reply_from(packet, n, 0, payload, len, out, room);
}

size_t st_packet_udp_reply_from(const uint8_t *packet, size_t n, uint16_t from_port, const uint8_t *payload,
                                size_t len, uint8_t *out, size_t room)
{
    struct st_packet to;
    size_t header, size = UDP_HEADER + len;
    uint8_t *udp;
    uint16_t sum;

    if (!answerable(packet, n, IPPROTO_UDP, &to))
        return 0;
    header = ip_header_size(&to);
    if (len > UINT16_MAX - ST_REPLY_HEADERS || header + size > room)
        return 0;
    write_ip(&to, packet, size, out);
    udp = out + header;
    st_store16(udp, from_port ? from_port : to.dst_port);
    st_store16(udp + 2, to.src_port);
    st_store16(udp + 4, (unsigned)size);
    st_store16(udp + 6, 0);
    if (len)
        memcpy(udp + UDP_HEADER, payload, len);
    sum = st_checksum_transport(out, to.version, to.protocol, udp, size);
    st_store16(udp + 6, sum ? sum : 0xffff); /* 0 would mean: none */
    return header + size;
}

/* What the sender thinks comes next from the other side; or, where it has seen nothing of it yet, that all of
 * its own has come. */
static void write_reset(const struct st_packet *to, uint8_t *tcp)
{
    bool acked = to->tcp_flags & ST_TCP_ACK;
    uint32_t taken =
        (uint32_t)to->payload_len + !!(to->tcp_flags & ST_TCP_SYN) + !!(to->tcp_flags & ST_TCP_FIN);

    memset(tcp, 0, TCP_HEADER);
    st_store16(tcp, to->dst_port);
    st_store16(tcp + 2, to->src_port);
    st_store32(tcp + 4, acked ? to->tcp_ack : 0);
    st_store32(tcp + 8, acked ? 0 : to->tcp_seq + taken);
    tcp[12] = TCP_HEADER / 4 << 4;
    tcp[13] = acked ? ST_TCP_RST : ST_TCP_RST | ST_TCP_ACK;
}

size_t st_packet_tcp_reset(const uint8_t *packet, size_t n, uint8_t *out, size_t room)
{
    struct st_packet to;
    size_t header;

    if (!answerable(packet, n, IPPROTO_TCP, &to) || to.tcp_flags & ST_TCP_RST)
        return 0;
    header = ip_header_size(&to);
    if (header + TCP_HEADER > room)
        return 0;
    write_ip(&to, packet, TCP_HEADER, out);
    write_reset(&to, out + header);
    st_store16(out + header + 16,
               st_checksum_transport(out, to.version, IPPROTO_TCP, out + header, TCP_HEADER));
    return header + TCP_HEADER;
}

/* offset: of what is sent, from what the packet expects. */
static size_t write_segment(const uint8_t *packet, size_t n, uint32_t offset, uint8_t flags,
                            const uint8_t *payload, size_t len, uint8_t *out, size_t room)
{
    struct st_packet to;
    size_t header, size = TCP_HEADER + len;
    uint8_t *tcp;

    if (!answerable(packet, n, IPPROTO_TCP, &to) || !(to.tcp_flags & ST_TCP_ACK) || to.tcp_flags & ST_TCP_RST)
        return 0;
    header = ip_header_size(&to);
    if (len > UINT16_MAX - ST_REPLY_HEADERS || header + size > room)
        return 0;
    write_ip(&to, packet, size, out);
    tcp = out + header;
    memset(tcp, 0, TCP_HEADER);
    st_store16(tcp, to.dst_port);
    st_store16(tcp + 2, to.src_port);
    st_store32(tcp + 4, to.tcp_ack + offset);
    st_store32(tcp + 8, to.tcp_seq + (uint32_t)to.payload_len);
    tcp[12] = TCP_HEADER / 4 << 4;
    tcp[13] = flags;
    st_store16(tcp + 14, UINT16_MAX);
    if (len)
        memcpy(tcp + TCP_HEADER, payload, len);
    st_store16(tcp + 16, st_checksum_transport(out, to.version, IPPROTO_TCP, tcp, size));
    return header + size;
}

size_t st_packet_tcp_reply(const uint8_t *packet, size_t n, const uint8_t *payload, size_t len, uint8_t *out,
                           size_t room)
{
    return write_segment(packet, n, 0, ST_TCP_ACK | ST_TCP_PSH, payload, len, out, room);
}

size_t st_packet_tcp_reset_after(const uint8_t *packet, size_t n, size_t len, uint8_t *out, size_t room)
{
    return write_segment(packet, n, (uint32_t)len, ST_TCP_RST | ST_TCP_ACK, NULL, 0, out, room);
}

size_t st_packet_tcp_abandon(const uint8_t *packet, size_t n, uint8_t *out, size_t room)
{
    struct st_packet of;
    size_t header;
    uint8_t *tcp;

    if (!answerable(packet, n, IPPROTO_TCP, &of) || !(of.tcp_flags & ST_TCP_ACK) || of.tcp_flags & ST_TCP_RST)
        return 0;
    header = ip_header_size(&of);
    if (header + TCP_HEADER > room)
        return 0;
    write_ip(&of, packet, TCP_HEADER, out);
    /* The same way as the packet, not back; a sum of the header does not mind the order. */
    if (of.version == 4) {
        memcpy(out + 12, packet + 12, 8);
    } else {
        memcpy(out + 8, packet + 8, 32);
    }
    tcp = out + header;
    memset(tcp, 0, TCP_HEADER);
    st_store16(tcp, of.src_port);
    st_store16(tcp + 2, of.dst_port);
    st_store32(tcp + 4, of.tcp_seq);
    st_store32(tcp + 8, of.tcp_ack);
    tcp[12] = TCP_HEADER / 4 << 4;
    tcp[13] = ST_TCP_RST | ST_TCP_ACK;
    st_store16(tcp + 16, st_checksum_transport(out, of.version, IPPROTO_TCP, tcp, TCP_HEADER));
    return header + TCP_HEADER;
}
