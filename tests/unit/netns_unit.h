/* netns_unit: a network namespace of our own, for tests, with a tun device behind which nobody answers: what
 * is sent there stays on its way. */
#pragma once

#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static inline void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static inline void bring_up(const char *device)
{
    struct ifreq req = {0};
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", device);
    assert_int_equal(ioctl(s, SIOCGIFFLAGS, &req), 0);
    req.ifr_flags |= IFF_UP;
    assert_int_equal(ioctl(s, SIOCSIFFLAGS, &req), 0);
    close(s);
}

static inline void add_addr4(const char *device, const char *addr)
{
    struct ifreq req = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&req.ifr_addr;
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", device);
    in->sin_family = AF_INET;
    assert_int_equal(inet_pton(AF_INET, addr, &in->sin_addr), 1);
    assert_int_equal(ioctl(s, SIOCSIFADDR, &req), 0);
    assert_int_equal(inet_pton(AF_INET, "255.255.255.0", &in->sin_addr), 1);
    assert_int_equal(ioctl(s, SIOCSIFNETMASK, &req), 0);
    close(s);
}

static inline void add_addr6(const char *device, const char *addr)
{
    struct {
        struct in6_addr addr;
        uint32_t prefix;
        int index;
    } req = {.prefix = 64, .index = (int)if_nametoindex(device)}; /* struct in6_ifreq */
    int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_int_equal(inet_pton(AF_INET6, addr, &req.addr), 1);
    assert_int_equal(ioctl(s, SIOCSIFADDR, &req), 0);
    close(s);
}

/* The kernel makes an address of IPv6 usable in its own time, after it has said that it is there. */
static inline void wait_until_usable(const char *addr)
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

static inline void enter_netns(void)
{
    if (unshare(CLONE_NEWNET) < 0)
        fail_msg("a network namespace of our own: %s (these tests run as root)", strerror(errno));
    bring_up("lo");
}

/* t0, with 10.0.0.2/24 and 2001:db8::2/64. */
static inline int make_tun_device(void)
{
    struct ifreq req = {.ifr_name = "t0", .ifr_flags = IFF_TUN | IFF_NO_PI};
    int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

    if (tun < 0 || ioctl(tun, TUNSETIFF, &req) < 0)
        fail_msg("/dev/net/tun: %s (is the module tun loaded?)", strerror(errno));
    write_file("/proc/sys/net/ipv6/conf/t0/accept_dad", "0");
    add_addr4("t0", "10.0.0.2");
    bring_up("t0");
    add_addr6("t0", "2001:db8::2");
    wait_until_usable("2001:db8::2");
    return tun;
}

/* Connected, or on its way. */
static inline int socket_to(const char *addr, uint16_t port, int type)
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
