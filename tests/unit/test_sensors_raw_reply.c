/* Answers in another's name: what our raw sockets send, a client takes for its server's, though every packet
 * that comes by the wrong way is refused. */
#include "sensors/net/dns.h"
#include "sensors/net/packet.h"
#include "sensors/net/packet_reply.h"
#include "sensors/raw_reply.h"

#include "netns_unit.h"

static int tun;
static struct st_raw_reply reply;

static int set_up(void **state)
{
    struct st_error err = {0};

    (void)state;
    enter_netns();
    write_file("/proc/sys/net/ipv4/conf/all/rp_filter", "1");
    write_file("/proc/sys/net/ipv4/conf/lo/rp_filter", "1");
    tun = make_tun_device();
    if (st_raw_reply_open(&reply, 7, &err) < 0)
        fail_msg("%s", err.msg);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    st_raw_reply_close(&reply);
    assert_int_equal(reply.fd4, -1);
    close(tun);
    return 0;
}

static size_t next_packet(uint8_t protocol, uint8_t *out, size_t room)
{
    for (;;) {
        ssize_t n = read(tun, out, room);
        struct st_packet packet;

        assert_true(n > 0);
        if (st_packet_read(out, (size_t)n, &packet) && packet.protocol == protocol)
            return (size_t)n;
    }
}

static void wait_for(int s)
{
    struct pollfd p = {.fd = s, .events = POLLIN};

    assert_int_equal(poll(&p, 1, -1), 1);
}

static const char *const servers[] = {"10.0.0.1", "2001:db8::1"};

static void a_query_is_refused_as_if_by_its_server(void **state)
{
    static const uint8_t query[] = "\x2b\x1d\1\0\0\1\0\0\0\0\0\0\1A\4test\0\0\1\0\1";

    (void)state;
    for (size_t i = 0; i < N_OF(servers); i++) {
        int s = socket_to(servers[i], 53, SOCK_DGRAM);
        uint8_t bytes[2048], answer[512], out[1024], got[512];
        struct st_packet packet;
        size_t n, len;

        assert_int_equal(send(s, query, sizeof(query) - 1, 0), sizeof(query) - 1);
        n = next_packet(IPPROTO_UDP, bytes, sizeof(bytes));
        assert_true(st_packet_read(bytes, n, &packet));
        len = st_dns_refuse(packet.payload, packet.payload_len, answer, sizeof(answer));
        len = st_packet_udp_reply(bytes, n, answer, len, out, sizeof(out));
        assert_int_equal(st_raw_reply_send(&reply, out, len, 0), 0);
        wait_for(s);
        assert_int_equal(recv(s, got, sizeof(got), 0), sizeof(query) - 1);
        assert_int_equal(got[3] & 15, ST_DNS_REFUSED);
        close(s);
    }
}

/* As Docker's resolver is asked: the packet that we see goes to a port that the client knows nothing of. */
static void an_answer_comes_from_the_port_that_was_asked(void **state)
{
    int s = socket_to("10.0.0.1", 53, SOCK_DGRAM);
    uint8_t bytes[2048], out[1024], got[16];
    size_t n, len;

    (void)state;
    assert_int_equal(send(s, "?", 1, 0), 1);
    n = next_packet(IPPROTO_UDP, bytes, sizeof(bytes));
    bytes[22] = 40053 >> 8;
    bytes[23] = 40053 & 0xff;
    len = st_packet_udp_reply_from(bytes, n, 53, (const uint8_t *)"!", 1, out, sizeof(out));
    assert_int_equal(st_raw_reply_send(&reply, out, len, 0), 0);
    wait_for(s);
    assert_int_equal(recv(s, got, sizeof(got), 0), 1);
    assert_int_equal(got[0], '!');
    close(s);
}

static void a_connection_is_reset_as_if_by_its_server(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(servers); i++) {
        int s = socket_to(servers[i], 443, SOCK_STREAM), error = 0;
        socklen_t error_len = sizeof(error);
        uint8_t bytes[2048], out[128];
        size_t n = next_packet(IPPROTO_TCP, bytes, sizeof(bytes)), len;

        len = st_packet_tcp_reset(bytes, n, out, sizeof(out));
        assert_int_equal(st_raw_reply_send(&reply, out, len, 0), 0);
        wait_for(s);
        assert_int_equal(getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &error_len), 0);
        assert_int_equal(error, ECONNREFUSED);
        close(s);
    }
}

static void what_is_no_packet_is_not_sent(void **state)
{
    static const uint8_t cases[][40] = {{0}, {0x40}, {0x60}, {0xff}};
    static const size_t lengths[] = {0, 19, 39, 40};

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_int_equal(st_raw_reply_send(&reply, cases[i], lengths[i], 0), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_refused_as_if_by_its_server),
        cmocka_unit_test(an_answer_comes_from_the_port_that_was_asked),
        cmocka_unit_test(a_connection_is_reset_as_if_by_its_server),
        cmocka_unit_test(what_is_no_packet_is_not_sent),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
