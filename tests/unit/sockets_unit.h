/* sockets_unit: sockets of all kinds, for tests, each with the flow that it has begun. For processes that are
 * there to hold them: where one can't be made they end. */
#pragma once

#include "sensors/sock_owner.h"

#include "netns_unit.h"

#include <netinet/ip_icmp.h>
#include <sys/resource.h>

typedef int make_socket(struct st_flow_tuple *flow);

static inline struct st_addr addr_of(const void *sockaddr)
{
    const struct sockaddr_in6 *six = sockaddr;
    const struct sockaddr_in *four = sockaddr;

    return six->sin6_family == AF_INET6 ? st_addr_from6(six->sin6_addr.s6_addr)
                                        : st_addr_from4((const uint8_t *)&four->sin_addr);
}

static inline void from_here(int s, uint8_t protocol, struct st_flow_tuple *flow)
{
    struct sockaddr_in6 local;
    socklen_t n = sizeof(local);

    if (getsockname(s, (void *)&local, &n) < 0)
        _exit(1);
    flow->protocol = protocol;
    flow->src = addr_of(&local);
    flow->src_port = ntohs(local.sin6_port); /* at the same place for both */
}

static inline void to_there(const char *addr, uint16_t port, struct st_flow_tuple *flow)
{
    if (!st_addr_parse(st_str(addr), &flow->dst))
        _exit(1);
    flow->dst_port = port;
}

static inline int connected(const char *addr, uint16_t port, int type, struct st_flow_tuple *flow)
{
    int s = socket_to(addr, port, type);

    from_here(s, type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP, flow);
    to_there(addr, port, flow);
    return s;
}

static inline int tcp4_on_its_way(struct st_flow_tuple *flow)
{
    return connected("10.0.0.1", 443, SOCK_STREAM, flow);
}

static inline int tcp6_on_its_way(struct st_flow_tuple *flow)
{
    return connected("2001:db8::1", 443, SOCK_STREAM, flow);
}

static inline int tcp4_by_a_socket_of_ipv6(struct st_flow_tuple *flow)
{
    return connected("::ffff:10.0.0.1", 443, SOCK_STREAM, flow);
}

static inline int udp4_connected(struct st_flow_tuple *flow)
{
    return connected("10.0.0.1", 53, SOCK_DGRAM, flow);
}

static inline int udp6_connected(struct st_flow_tuple *flow)
{
    return connected("2001:db8::1", 53, SOCK_DGRAM, flow);
}

static inline int udp_sent_to(const char *addr, int family, const char *device, struct st_flow_tuple *flow)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(123)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(123)};
    int s = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_six = family == AF_INET6;
    ssize_t n;

    if (inet_pton(family, addr, is_six ? (void *)&six.sin6_addr : &four.sin_addr) != 1)
        _exit(1);
    if (device && setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)) < 0)
        _exit(1);
    n = is_six ? sendto(s, "x", 1, 0, (void *)&six, sizeof(six))
               : sendto(s, "x", 1, 0, (void *)&four, sizeof(four));
    if (n != 1)
        _exit(1);
    from_here(s, IPPROTO_UDP, flow);
    to_there(addr, 123, flow);
    if (!st_addr_parse(flow->dst.family == 4 ? ST_STR_LIT("10.0.0.2") : ST_STR_LIT("2001:db8::2"),
                       &flow->src))
        _exit(1);
    return s;
}

static inline int udp4_sent_to(struct st_flow_tuple *flow)
{
    return udp_sent_to("10.0.0.1", AF_INET, NULL, flow);
}

static inline int udp6_sent_to(struct st_flow_tuple *flow)
{
    return udp_sent_to("2001:db8::1", AF_INET6, NULL, flow);
}

static inline int udp4_sent_by_a_socket_of_ipv6(struct st_flow_tuple *flow)
{
    return udp_sent_to("::ffff:10.0.0.1", AF_INET6, NULL, flow);
}

static inline int udp4_bound_to_a_device(struct st_flow_tuple *flow)
{
    return udp_sent_to("10.0.0.1", AF_INET, "t0", flow);
}

static inline int raw_of(int family, int protocol, struct st_flow_tuple *flow)
{
    int s = socket(family, SOCK_RAW | SOCK_CLOEXEC, protocol);

    if (s < 0)
        _exit(1);
    *flow = (struct st_flow_tuple){.protocol = (uint8_t)protocol};
    if (!st_addr_parse(family == AF_INET ? ST_STR_LIT("10.0.0.2") : ST_STR_LIT("2001:db8::2"), &flow->src))
        _exit(1);
    to_there(family == AF_INET ? "10.0.0.1" : "2001:db8::1", 0, flow);
    return s;
}

static inline int raw4_of_sctp(struct st_flow_tuple *flow)
{
    return raw_of(AF_INET, IPPROTO_SCTP, flow);
}

static inline int raw6_of_icmp(struct st_flow_tuple *flow)
{
    return raw_of(AF_INET6, IPPROTO_ICMPV6, flow);
}

/* A SYN whose header it wrote itself. */
static inline int raw4_that_says_it_is_tcp(struct st_flow_tuple *flow)
{
    int s = raw_of(AF_INET, IPPROTO_RAW, flow);

    flow->protocol = IPPROTO_TCP;
    flow->src_port = 4444;
    flow->dst_port = 443;
    return s;
}

static inline int ping4(struct st_flow_tuple *flow)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    struct icmphdr echo = {.type = ICMP_ECHO};
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);

    inet_pton(AF_INET, "10.0.0.1", &to.sin_addr);
    if (sendto(s, &echo, sizeof(echo), 0, (void *)&to, sizeof(to)) != (ssize_t)sizeof(echo))
        _exit(1);
    from_here(s, IPPROTO_ICMP, flow);
    to_there("10.0.0.1", flow->src_port, flow);
    return s;
}

/* As Docker's resolver is reached: the socket speaks to port 53, the packet goes to another. */
static inline int udp4_translated_on_lo(struct st_flow_tuple *flow)
{
    int s = connected("127.0.0.11", 53, SOCK_DGRAM, flow);

    flow->dst_port = 40123;
    return s;
}

static inline int tcp4_translated_on_lo(struct st_flow_tuple *flow)
{
    int far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), s;
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof(at);

    inet_pton(AF_INET, "127.0.0.11", &at.sin_addr);
    if (bind(far, (void *)&at, sizeof(at)) < 0 || listen(far, 5) < 0 || getsockname(far, (void *)&at, &n) < 0)
        _exit(1);
    s = connected("127.0.0.11", ntohs(at.sin_port), SOCK_STREAM, flow);
    flow->dst_port ^= 1;
    return s;
}

static inline int listening(struct st_flow_tuple *flow)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(8080)};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(s, (void *)&at, sizeof(at)) < 0 || listen(s, 5) < 0)
        _exit(1);
    from_here(s, IPPROTO_TCP, flow);
    to_there("10.0.0.9", 5555, flow);
    return st_addr_parse(ST_STR_LIT("10.0.0.2"), &flow->src) ? s : -1;
}

static inline void open_many(int n)
{
    while (n--)
        if (dup(0) < 0)
            _exit(1);
}

/* Where nobody looks first, behind more files than anybody looks at. */
static inline int udp4_behind_many_files(struct st_flow_tuple *flow)
{
    struct rlimit limit = {20000, 20000};
    int s;

    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        _exit(1);
    open_many(ST_OWNER_LINKS + 1000);
    s = udp4_connected(flow);
    open_many(200);
    return s;
}

static inline int three_sockets(struct st_flow_tuple *flow)
{
    udp4_connected(flow);
    tcp4_on_its_way(flow);
    return udp4_connected(flow);
}
