/* Refusals, with the kernel as the judge: what leaves through a tun device of our own network namespace is
 * read, and answered by packets that a socket must believe. */
#include "sensors/net/checksum.h"
#include "sensors/net/dns.h"
#include "sensors/net/packet.h"
#include "sensors/net/packet_reply.h"

#include "netns_unit.h"

static int tun;

static int make_tun(void **state)
{
    (void)state;
    enter_netns();
    tun = make_tun_device();
    return 0;
}

static int close_tun(void **state)
{
    (void)state;
    close(tun);
    return 0;
}

/* The next packet of this protocol to this port; others (neighbours' talk) are passed over. */
static size_t next_packet(uint8_t protocol, uint16_t port, uint8_t *out, size_t room,
                          struct st_packet *packet)
{
    for (;;) {
        ssize_t n = read(tun, out, room);

        assert_true(n > 0);
        assert_true(st_packet_read(out, (size_t)n, packet));
        if (packet->protocol != protocol || packet->dst_port != port)
            continue;
        assert_true(st_checksum_right(out, packet));
        return (size_t)n;
    }
}

static void wait_for(int s)
{
    struct pollfd p = {.fd = s, .events = POLLIN};

    assert_int_equal(poll(&p, 1, -1), 1);
}

static const char *const servers[] = {"10.0.0.1", "2001:db8::1"};

static void a_refused_query_is_answered_where_it_was_asked(void **state)
{
    static const uint8_t query[] = "\x2b\x1d\1\0\0\1\0\0\0\0\0\0\1A\4test\0\0\1\0\1";

    (void)state;
    for (size_t i = 0; i < N_OF(servers); i++) {
        int s = socket_to(servers[i], 53, SOCK_DGRAM);
        uint8_t bytes[2048], answer[512], out[1024], got[512];
        struct st_packet packet;
        struct st_dns_message message;
        size_t n, len;
        ssize_t received;

        assert_int_equal(send(s, query, sizeof(query) - 1, 0), sizeof(query) - 1);
        n = next_packet(IPPROTO_UDP, 53, bytes, sizeof(bytes), &packet);
        len = st_dns_refuse(packet.payload, packet.payload_len, answer, sizeof(answer));
        len = st_packet_udp_reply(bytes, n, answer, len, out, sizeof(out));
        assert_true(len > 0);
        assert_int_equal(write(tun, out, len), len);
        wait_for(s);
        received = recv(s, got, sizeof(got), 0);
        assert_true(received > 0 && st_dns_read(got, (size_t)received, &message));
        assert_int_equal(message.rcode, ST_DNS_REFUSED);
        assert_string_equal(message.name.text, "a.test");
        close(s);
    }
}

static void a_refused_connection_fails_at_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(servers); i++) {
        int s = socket_to(servers[i], 443, SOCK_STREAM), error = 0;
        socklen_t error_len = sizeof(error);
        uint8_t bytes[2048], out[64];
        struct st_packet packet;
        size_t n = next_packet(IPPROTO_TCP, 443, bytes, sizeof(bytes), &packet), len;

        len = st_packet_tcp_reset(bytes, n, out, sizeof(out));
        assert_true(len > 0);
        assert_int_equal(write(tun, out, len), len);
        wait_for(s);
        assert_int_equal(getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &error_len), 0);
        assert_int_equal(error, ECONNREFUSED);
        close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_query_is_answered_where_it_was_asked),
        cmocka_unit_test(a_refused_connection_fails_at_once),
    };

    return cmocka_run_group_tests(tests, make_tun, close_tun);
}
