/* Packets: as the kernel sends them, and as raw sockets may. */
#include "sensors/net/checksum.h"
#include "sensors/net/packet.h"
#include "sensors/net/packet_reply.h"

#include "net_unit.h"

#include <netinet/in.h>

static struct st_packet packet;

static bool read_hex(const char *hex)
{
    static struct bytes m;

    m.n = 0;
    put_hex(&m, hex);
    return st_packet_read(m.b, m.n, &packet);
}

static const char *text_of(const struct st_addr *addr)
{
    static char text[ST_ADDR_TEXT_SIZE];

    st_addr_format(addr, text);
    return text;
}

/* What the kernel sent through a tun device: a query for a.test, a connection. */
#define UDP4                                                                                                 \
    "4500 0034 588e 4000 4011 ce28 0a000002 0a000001 9c40 0035 0020 43cd"                                    \
    "2b1d 0100 0001 0000 0000 0000 0161 0474657374 00 0001 0001"
#define TCP4_SYN                                                                                             \
    "4500 003c 0bb7 4000 4006 1b03 0a000002 0a000001 9c40 01bb 77f5c099 00000000 a002 faf0 5f9e 0000"        \
    "0204 05b4 0402 080a af8d5353 00000000 01 03030a"
#define V6_ADDRS "20010db8 00000000 00000000 00000002 20010db8 00000000 00000000 00000001"
#define UDP6                                                                                                 \
    "6002 52c0 0020 11 40" V6_ADDRS "9c40 0035 0020 fc5a"                                                    \
    "2b1d 0100 0001 0000 0000 0000 0161 0474657374 00 0001 0001"

/* ---- as it should be ---- */

static void a_udp_packet_is_read(void **state)
{
    (void)state;
    assert_true(read_hex(UDP4));
    assert_int_equal(packet.version, 4);
    assert_int_equal(packet.hops, 64);
    assert_int_equal(packet.protocol, IPPROTO_UDP);
    assert_string_equal(text_of(&packet.src), "10.0.0.2");
    assert_string_equal(text_of(&packet.dst), "10.0.0.1");
    assert_int_equal(packet.src_port, 40000);
    assert_int_equal(packet.dst_port, 53);
    assert_int_equal(packet.payload_len, 24);
    assert_int_equal(packet.payload[0], 0x2b);
    assert_false(packet.fragment);
    assert_false(packet.rerouted);
}

static void a_tcp_packet_is_read(void **state)
{
    (void)state;
    assert_true(read_hex(TCP4_SYN));
    assert_int_equal(packet.protocol, IPPROTO_TCP);
    assert_int_equal(packet.dst_port, 443);
    assert_int_equal(packet.tcp_seq, 0x77f5c099);
    assert_int_equal(packet.tcp_flags, ST_TCP_SYN);
    assert_int_equal(packet.payload_len, 0);
    assert_true(
        read_hex("6000 0000 0017 06 40" V6_ADDRS "9c40 0050 00000065 00000007 5018 faf0 0000 0000 474554"));
    assert_string_equal(text_of(&packet.dst), "2001:db8::1");
    assert_int_equal(packet.tcp_ack, 7);
    assert_int_equal(packet.tcp_flags, ST_TCP_ACK | ST_TCP_PSH);
    assert_int_equal(packet.payload_len, 3);
    assert_memory_equal(packet.payload, "GET", 3);
}

static void what_follows_the_packet_is_not_of_it(void **state)
{
    (void)state;
    assert_true(read_hex(UDP4 "ffff ffff"));
    assert_int_equal(packet.payload_len, 24);
}

static void other_protocols_are_told(void **state)
{
    (void)state;
    assert_true(read_hex("4500 001c 0000 4000 4001 0000 0a000002 0a000001 0800 0000 0001 0001"));
    assert_int_equal(packet.protocol, IPPROTO_ICMP);
    assert_int_equal(packet.icmp_type, 8);
    assert_false(packet.has_ports);
    assert_true(read_hex("6000 0000 0008 3a 40" V6_ADDRS "8001 0000 0001 0001"));
    assert_int_equal(packet.icmp_type, 128);
    assert_int_equal(packet.icmp_code, 1);
    assert_true(read_hex("4500 0020 0000 4000 4084 0000 0a000002 0a000001 0001 0002 00000000 00000000"));
    assert_int_equal(packet.protocol, IPPROTO_SCTP);
    assert_true(packet.has_ports);
    assert_int_equal(packet.dst_port, 2);
    assert_int_equal(packet.payload_len, 12);
    assert_true(read_hex("4500 0015 0000 4000 402f 0000 0a000002 0a000001 00"));
    assert_int_equal(packet.protocol, IPPROTO_GRE);
    assert_false(packet.has_ports);
    assert_true(read_hex("6000 0000 0000 3b 40" V6_ADDRS));
    assert_int_equal(packet.protocol, IPPROTO_NONE);
}

static void the_protocol_is_found_behind_extension_headers(void **state)
{
    (void)state;
    assert_true(read_hex("6000 0000 0032 00 40" V6_ADDRS "3c 00 0104 00000000" /* hop by hop */
                         "2b 01 0104 00000000 00000000 00000000"               /* for the destination */
                         "2c 00 0400 00000000"                                 /* a route that is done */
                         "11 00 0000 00000007"                                 /* a fragment that is all */
                         "0001 0035 000a 0000 6869"));
    assert_int_equal(packet.protocol, IPPROTO_UDP);
    assert_int_equal(packet.dst_port, 53);
    assert_false(packet.fragment);
    assert_false(packet.rerouted);
    assert_true(read_hex("6000 0000 0016 33 40" V6_ADDRS "11 01 0000 00000001 00000001"
                         "0001 0035 000a 0000 6869"));
    assert_int_equal(packet.protocol, IPPROTO_UDP);
}

static void a_mapped_address_is_the_address_that_it_maps(void **state)
{
    (void)state;
    assert_true(read_hex("6000 0000 000a 11 40 00000000 00000000 0000ffff 0a000002"
                         "00000000 00000000 0000ffff a9fea9fe 0001 0050 000a 0000 6869"));
    assert_int_equal(packet.version, 6);
    assert_int_equal(packet.dst.family, 4);
    assert_string_equal(text_of(&packet.dst), "169.254.169.254");
}

static void fragments_are_told_and_nothing_else_of_them(void **state)
{
    static const char *const rows[] = {
        "4500 0034 1c46 2000 4011 0a71 0a000002 0a000001 9c40 0035 0020 1433 2b1d 0100 0001 0000 0000 0000"
        "0161 0474657374 00 0001 0001",
        "4500 001c 1c46 0001 4011 0000 0a000002 0a000001 9c40 0035 0008 0000",
        "4500 0014 1c46 2001 4006 0000 0a000002 0a000001",
        "6000 0000 0010 2c 40" V6_ADDRS "11 00 0001 00000007 9c40 0035 0008 0000",
        "6000 0000 0010 2c 40" V6_ADDRS "11 00 0008 00000007 9c40 0035 0008 0000",
        "6000 0000 0010 2c 40" V6_ADDRS "3c 00 0008 00000007 ffff ffff ffff ffff",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        assert_true(read_hex(rows[i]));
        assert_true(packet.fragment);
        assert_false(packet.has_ports);
        assert_null(packet.payload);
    }
}

static void packets_that_go_elsewhere_are_told(void **state)
{
    (void)state;
    /* loose source route by 8.8.8.8 */
    assert_true(
        read_hex("4700 0024 0000 4000 4011 0000 0a000002 0a000001 01 83 07 04 08080808 0001 0035 0008 0000"));
    assert_true(packet.rerouted);
    assert_int_equal(packet.dst_port, 53);
    assert_true(read_hex("4600 0020 0000 4000 4011 0000 0a000002 0a000001 94 04 0000 0001 0035 0008 0000"));
    assert_false(packet.rerouted); /* router alert */
    assert_true(read_hex("6000 0000 0020 2b 40" V6_ADDRS "11 02 0001 00000000"
                         "20010db8 00000000 00000000 00000009"
                         "0001 0035 0008 0000"));
    assert_true(packet.rerouted);
}

/* ---- as it must not be ---- */

static void wrong_packets_are_refused(void **state)
{
    static const struct {
        const char *what, *hex;
    } rows[] = {
        {"nothing", ""},
        {"another version", "5500 0014"},
        {"half a header", "4500 0014 0000 4000 4011"},
        {"a header of four words", "4400 0014 0000 4000 4011 0000 0a000002 0a000001"},
        {"a total below the header", "4500 0013 0000 4000 4011 0000 0a000002 0a000001"},
        {"a total of nothing", "4500 0000 0000 4000 4011 0000 0a000002 0a000001 0001 0035 0008 0000"},
        {"cut short", "4500 0020 0000 4000 4011 0000 0a000002 0a000001 0001 0035 000c 0000"},
        {"options beyond the packet", "4f00 0018 0000 4000 4011 0000 0a000002 0a000001 00000000"},
        {"an option of no length",
         "4600 0020 0000 4000 4011 0000 0a000002 0a000001 83 00 0000 0001 0035 0008 0000"},
        {"an option beyond the header",
         "4600 0020 0000 4000 4011 0000 0a000002 0a000001 83 05 0000 0001 0035 0008 0000"},
        {"UDP without its length", "4500 0018 0000 4000 4011 0000 0a000002 0a000001 0001 0035"},
        {"UDP that says more", "4500 001c 0000 4000 4011 0000 0a000002 0a000001 0001 0035 0009 0000"},
        {"UDP with bytes behind", "4500 001d 0000 4000 4011 0000 0a000002 0a000001 0001 0035 0008 0000 61"},
        {"UDP of length 0", "4500 001c 0000 4000 4011 0000 0a000002 0a000001 0001 0035 0000 0000"},
        {"TCP cut short",
         "4500 0024 0000 4000 4006 0000 0a000002 0a000001 0001 0035 00000000 00000000 5002 0000"},
        {"TCP with a short header",
         "4500 0028 0000 4000 4006 0000 0a000002 0a000001 0001 0035 00000000 00000000 4002 0000 0000 0000"},
        {"TCP with options beyond",
         "4500 0028 0000 4000 4006 0000 0a000002 0a000001 0001 0035 00000000 00000000 6002 0000 0000 0000"},
        {"ICMP of one byte", "4500 0015 0000 4000 4001 0000 0a000002 0a000001 08"},
        {"IPv6 cut short", "6000 0000 000b 11 40" V6_ADDRS "9c40 0035 000a 0000 6869"},
        {"a jumbogram", "6000 0000 0000 11 40" V6_ADDRS "9c40 0035 000a 0000 6869"},
        {"an extension header beyond the end", "6000 0000 0008 00 40" V6_ADDRS "11 01 0104 00000000"},
        {"half an extension header", "6000 0000 0001 00 40" V6_ADDRS "11"},
        {"nine extension headers",
         "6000 0000 0048 3c 40" V6_ADDRS "3c00010400000000 3c00010400000000 3c00010400000000"
         "3c00010400000000 3c00010400000000 3c00010400000000 3c00010400000000 3c00010400000000 "
         "3b00010400000000"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        if (read_hex(rows[i].hex))
            fail_msg("read: %s", rows[i].what);
        assert_non_null(packet.why);
    }
}

/* ---- checksums ---- */

static void the_kernels_checksums_are_right_and_others_are_not(void **state)
{
    static const char *const rows[] = {UDP4, UDP6, TCP4_SYN};

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes m = {0};

        put_hex(&m, rows[i]);
        assert_true(st_packet_read(m.b, m.n, &packet));
        assert_true(st_checksum_right(m.b, &packet));
        m.b[m.n - 1] ^= 1;
        assert_false(st_checksum_right(m.b, &packet));
        m.b[m.n - 1] ^= 1;
        m.b[i == 1 ? 20 : 15] ^= 1; /* of an address */
        assert_false(st_checksum_right(m.b, &packet));
    }
}

static void only_udp_over_ipv4_may_have_no_checksum(void **state)
{
    struct bytes four = {0}, six = {0};

    (void)state;
    put_hex(&four, "4500 001c 0000 4000 4011 0000 0a000002 0a000001 0001 0035 0008 0000");
    assert_true(st_packet_read(four.b, four.n, &packet) && st_checksum_right(four.b, &packet));
    put_hex(&six, "6000 0000 0008 11 40" V6_ADDRS "0001 0035 0008 0000");
    assert_true(st_packet_read(six.b, six.n, &packet));
    assert_false(st_checksum_right(six.b, &packet));
}

/* ---- replies ---- */

static void a_udp_reply_goes_back_with_right_checksums(void **state)
{
    static const char *const rows[] = {UDP4, UDP6};

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes query = {0};
        struct st_packet other;
        uint8_t back[128], forth[128];
        size_t n, header = i == 0 ? 20 : 40, addrs = i == 0 ? 8 : 32;

        put_hex(&query, rows[i]);
        assert_true(st_packet_read(query.b, query.n, &packet));
        n = st_packet_udp_reply(query.b, query.n, (const uint8_t *)"answer!", 7, back, sizeof(back));
        assert_int_equal(n, header + 15);
        assert_true(st_packet_read(back, n, &other));
        assert_memory_equal(&other.dst, &packet.src, sizeof(other.dst));
        assert_memory_equal(&other.src, &packet.dst, sizeof(other.dst));
        assert_int_equal(other.src_port, 53);
        assert_memory_equal(other.payload, "answer!", 7);
        /* A reply to the reply, with the query's own data, has the checksum that the kernel gave the query.
         */
        n = st_packet_udp_reply(back, n, packet.payload, packet.payload_len, forth, sizeof(forth));
        assert_int_equal(n, query.n);
        assert_memory_equal(forth + header - addrs, query.b + header - addrs, n - header + addrs);
    }
}

/* Where the sum comes out as 0, which would mean that there is none. */
static void a_udp_reply_is_never_without_a_checksum(void **state)
{
    struct bytes m = {0};
    uint8_t out[64], payload[2] = {0, 0};

    (void)state;
    put_hex(&m, UDP6);
    assert_int_equal(st_packet_udp_reply(m.b, m.n, payload, 2, out, sizeof(out)), 50);
    memcpy(payload, out + 46, 2);
    assert_int_equal(st_packet_udp_reply(m.b, m.n, payload, 2, out, sizeof(out)), 50);
    assert_memory_equal(out + 46, "\xff\xff", 2);
    assert_true(st_packet_read(out, 50, &packet));
    assert_true(st_checksum_right(out, &packet));
}

static void a_reset_is_one_that_the_sender_accepts(void **state)
{
    struct bytes m = {0};
    uint8_t out[64];

    (void)state;
    put_hex(&m, TCP4_SYN);
    assert_int_equal(st_packet_tcp_reset(m.b, m.n, out, sizeof(out)), 40);
    assert_true(st_packet_read(out, 40, &packet));
    assert_int_equal(packet.tcp_flags, ST_TCP_RST | ST_TCP_ACK);
    assert_int_equal(packet.tcp_ack, 0x77f5c09a);
    assert_int_equal(packet.src_port, 443);
    assert_int_equal(st_packet_tcp_reset(out, 40, out, sizeof(out)), 0);
    m.n = 0;
    put_hex(&m, "6000 0000 0017 06 40" V6_ADDRS "9c40 0050 00000065 00000007 5018 faf0 0000 0000 474554");
    assert_int_equal(st_packet_tcp_reset(m.b, m.n, out, sizeof(out)), 60);
    assert_true(st_packet_read(out, 60, &packet));
    assert_int_equal(packet.tcp_flags, ST_TCP_RST);
    assert_int_equal(packet.tcp_seq, 7);
    assert_string_equal(text_of(&packet.src), "2001:db8::1");
}

static void a_reply_needs_its_protocol_and_room(void **state)
{
    struct bytes m = {0};
    uint8_t out[64];

    (void)state;
    put_hex(&m, UDP6);
    assert_int_equal(st_packet_udp_reply(m.b, m.n, (const uint8_t *)"hi", 2, out, 50), 50);
    assert_int_equal(st_packet_udp_reply(m.b, m.n, (const uint8_t *)"hi", 2, out, 49), 0);
    assert_int_equal(st_packet_udp_reply(m.b, m.n, (const uint8_t *)"hi", UINT16_MAX, out, SIZE_MAX), 0);
    assert_int_equal(st_packet_udp_reply(m.b, m.n, NULL, 0, out, sizeof(out)), 48);
    assert_int_equal(st_packet_tcp_reset(m.b, m.n, out, sizeof(out)), 0);
    assert_int_equal(st_packet_udp_reply(m.b, m.n - 1, NULL, 0, out, sizeof(out)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_udp_packet_is_read),
        cmocka_unit_test(a_tcp_packet_is_read),
        cmocka_unit_test(what_follows_the_packet_is_not_of_it),
        cmocka_unit_test(other_protocols_are_told),
        cmocka_unit_test(the_protocol_is_found_behind_extension_headers),
        cmocka_unit_test(a_mapped_address_is_the_address_that_it_maps),
        cmocka_unit_test(fragments_are_told_and_nothing_else_of_them),
        cmocka_unit_test(packets_that_go_elsewhere_are_told),
        cmocka_unit_test(wrong_packets_are_refused),
        cmocka_unit_test(the_kernels_checksums_are_right_and_others_are_not),
        cmocka_unit_test(only_udp_over_ipv4_may_have_no_checksum),
        cmocka_unit_test(a_udp_reply_goes_back_with_right_checksums),
        cmocka_unit_test(a_udp_reply_is_never_without_a_checksum),
        cmocka_unit_test(a_reset_is_one_that_the_sender_accepts),
        cmocka_unit_test(a_reply_needs_its_protocol_and_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
