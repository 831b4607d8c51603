/* packet: see packet.h. */
#include "sensors/net/packet.h"

#include "sensors/net/cursor.h"

#include <netinet/in.h>

#define MAX_EXTENSIONS 8
#define V4_HEADER 20
#define V6_HEADER 40
#define OPTION_LSRR 131
#define OPTION_SSRR 137

static bool refused(struct st_packet *out, const char *why)
{
    out->why = why;
    return false;
}

/* ---- IPv4 ---- */

/* Options up to the end of the list; a source route among them says where the packet really goes. */
static bool read_options(struct st_cursor c, struct st_packet *out)
{
    while (c.left) {
        uint8_t type = st_take8(&c), len;

        if (type == 0) /* the end */
            return true;
        if (type == 1) /* nothing */
            continue;
        len = st_take8(&c);
        if (c.bad || len < 2 || !st_take(&c, len - 2u))
            return false;
        if (type == OPTION_LSRR || type == OPTION_SSRR)
            out->rerouted = true;
    }
    return true;
}

static bool read_v4(struct st_cursor *c, struct st_packet *out)
{
    size_t given = c->left, header = (size_t)(st_take8(c) & 15) * 4, total;
    const uint8_t *src, *dst;
    uint16_t fragment;

    st_take(c, 1);
    total = st_take16(c);
    st_take(c, 2);
    fragment = st_take16(c);
    out->hops = st_take8(c);
    out->protocol = st_take8(c);
    st_take(c, 2);
    src = st_take(c, 4);
    dst = st_take(c, 4);
    if (c->bad || header < V4_HEADER || total < header || total > given)
        return refused(out, "an IPv4 packet whose lengths are wrong");
    out->src = st_addr_from4(src);
    out->dst = st_addr_from4(dst);
    out->fragment = fragment & 0x3fff; /* more to come, or an offset */
    if (!read_options(st_take_run(c, header - V4_HEADER), out))
        return refused(out, "an IPv4 option of the wrong length");
    c->left = total - header;
    return true;
}

/* ---- IPv6 ---- */

/* One header between IPv6's own and what it carries: true, and which is the next; false: it is the carried
 * one, or c is bad. */
static bool take_extension(struct st_cursor *c, uint8_t *next, struct st_packet *out)
{
    struct st_cursor look = *c;
    uint8_t type = *next, following = st_take8(&look), len = st_take8(&look);
    size_t size = ((size_t)len + 1) * 8;

    switch (type) {
    case IPPROTO_HOPOPTS:
    case IPPROTO_DSTOPTS: break;
    case IPPROTO_ROUTING:
        st_take8(&look);
        if (st_take8(&look) > 0) /* segments left */
            out->rerouted = true;
        break;
    case IPPROTO_FRAGMENT:
        if (st_take16(&look) & 0xfff9)
            out->fragment = true;
        size = 8;
        break;
    case IPPROTO_AH: size = ((size_t)len + 2) * 4; break;
    default: return false;
    }
    *next = following;
    if (look.bad)
        c->bad = true;
    return st_take(c, size) != NULL;
}

static bool read_v6(struct st_cursor *c, struct st_packet *out)
{
    const uint8_t *src, *dst;
    uint8_t next;
    size_t total;
    unsigned extensions = 0;

    st_take(c, 4);
    total = st_take16(c);
    next = st_take8(c);
    out->hops = st_take8(c);
    src = st_take(c, 16);
    dst = st_take(c, 16);
    if (c->bad || total > c->left)
        return refused(out, "an IPv6 packet whose lengths are wrong");
    out->src = st_addr_from6(src);
    out->dst = st_addr_from6(dst);
    c->left = total;
    /* What follows a fragment's header may be the middle of anything. */
    while (!out->fragment && take_extension(c, &next, out))
        if (++extensions > MAX_EXTENSIONS)
            return refused(out, "more IPv6 extension headers than anybody needs");
    if (c->bad)
        return refused(out, "an IPv6 extension header that ends too early");
    out->protocol = next;
    return true;
}

/* ---- what it carries ---- */

static bool read_ports(struct st_cursor *c, struct st_packet *out)
{
    out->src_port = st_take16(c);
    out->dst_port = st_take16(c);
    out->has_ports = !c->bad;
    return !c->bad;
}

static bool read_tcp(struct st_cursor *c, struct st_packet *out)
{
    size_t header;

    read_ports(c, out);
    out->tcp_seq = st_take32(c);
    out->tcp_ack = st_take32(c);
    header = (size_t)(st_take8(c) >> 4) * 4;
    out->tcp_flags = st_take8(c);
    st_take(c, 6);
    return header >= 20 && st_take(c, header - 20) != NULL;
}

/* What stands behind the datagram in its packet is nobody's, and a way out. */
static bool read_udp(struct st_cursor *c, struct st_packet *out)
{
    size_t given = c->left;

    read_ports(c, out);
    if (st_take16(c) != given)
        return false;
    return st_take(c, 2) != NULL;
}

static bool read_carried(struct st_cursor *c, struct st_packet *out)
{
    struct st_cursor look = *c;

    switch (out->protocol) {
    case IPPROTO_TCP: return read_tcp(c, out);
    case IPPROTO_UDP: return read_udp(c, out);
    case IPPROTO_UDPLITE:
    case IPPROTO_SCTP:
    case IPPROTO_DCCP: return read_ports(&look, out);
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
        out->icmp_type = st_take8(&look);
        out->icmp_code = st_take8(&look);
        return !look.bad;
    default: return true;
    }
}

bool st_packet_read(const uint8_t *bytes, size_t n, struct st_packet *out)
{
    struct st_cursor c = st_cursor(bytes, n);

    *out = (struct st_packet){.version = n ? bytes[0] >> 4 : 0};
    if (out->version != 4 && out->version != 6)
        return refused(out, "neither IPv4 nor IPv6");
    if (!(out->version == 4 ? read_v4(&c, out) : read_v6(&c, out)))
        return false;
    if (out->fragment)
        return true;
    out->transport = c.p;
    if (!read_carried(&c, out))
        return refused(out, "a transport header that is too short or counts wrong");
    out->payload = c.p;
    out->payload_len = c.left;
    return true;
}
