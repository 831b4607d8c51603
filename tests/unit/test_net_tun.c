/* Refusals, with the kernel as the judge: what leaves through a tun device of our own network namespace is
 * read, and answered by packets that a socket must believe. */
#include "sensors/net/checksum.h"
#include "sensors/net/dns.h"
#include "sensors/net/packet.h"
#include "sensors/net/packet_reply.h"

#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int tun;

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void add_addr4(int s, const char *addr)
{
    struct ifreq req = {.ifr_name = "t0"};
    struct sockaddr_in *in = (struct sockaddr_in *)&req.ifr_addr;

    in->sin_family = AF_INET;
    assert_int_equal(inet_pton(AF_INET, addr, &in->sin_addr), 1);
    assert_int_equal(ioctl(s, SIOCSIFADDR, &req), 0);
    assert_int_equal(inet_pton(AF_INET, "255.255.255.0", &in->sin_addr), 1);
    assert_int_equal(ioctl(s, SIOCSIFNETMASK, &req), 0);
    assert_int_equal(ioctl(s, SIOCGIFFLAGS, &req), 0);
    req.ifr_flags |= IFF_UP;
    assert_int_equal(ioctl(s, SIOCSIFFLAGS, &req), 0);
}

static void add_addr6(const char *addr)
{
    struct {
        struct in6_addr addr;
        uint32_t prefix;
        int index;
    } req = {.prefix = 64, .index = (int)if_nametoindex("t0")}; /* struct in6_ifreq */
    int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_int_equal(inet_pton(AF_INET6, addr, &req.addr), 1);
    assert_int_equal(ioctl(s, SIOCSIFADDR, &req), 0);
    close(s);
}

/* The kernel makes an address of IPv6 usable in its own time, after it has said that it is there. */
static void wait_until_usable(const char *addr)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_int_equal(inet_pton(AF_INET6, addr, &six.sin6_addr), 1);
    while (bind(s, (void *)&six, sizeof(six)) < 0) {
        assert_int_equal(errno, EADDRNOTAVAIL);
        poll(NULL, 0, 1);
    }
    close(s);
}

static int make_tun(void **state)
{
    struct ifreq req = {.ifr_name = "t0", .ifr_flags = IFF_TUN | IFF_NO_PI};
    int s;

    (void)state;
    if (unshare(CLONE_NEWNET) < 0)
        fail_msg("a network namespace of our own: %s (these tests run as root)", strerror(errno));
    tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (tun < 0 || ioctl(tun, TUNSETIFF, &req) < 0)
        fail_msg("/dev/net/tun: %s (is the module tun loaded?)", strerror(errno));
    write_file("/proc/sys/net/ipv6/conf/t0/accept_dad", "0");
    s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    add_addr4(s, "10.0.0.2");
    close(s);
    add_addr6("2001:db8::2");
    wait_until_usable("2001:db8::2");
    return 0;
}

static int close_tun(void **state)
{
    (void)state;
    close(tun);
    return 0;
}

static int socket_to(const char *addr, uint16_t port, int type)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    bool is_six = inet_pton(AF_INET6, addr, &six.sin6_addr) == 1;
    int s = socket(is_six ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

    if (!is_six)
        assert_int_equal(inet_pton(AF_INET, addr, &four.sin_addr), 1);
    rc = is_six ? connect(s, (void *)&six, sizeof(six)) : connect(s, (void *)&four, sizeof(four));
    assert_true(rc == 0 || errno == EINPROGRESS);
    return s;
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
