/* net, packets by hand: raw sockets with a header of ours, frames past the network layer, SCTP, ICMP. */
#include "net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROOM 2048
#define SPORT 40404

static uint32_t add_words(uint32_t sum, const void *data, size_t len)
{
    const uint8_t *p = data;

    for (; len > 1; p += 2, len -= 2)
        sum += (uint32_t)p[0] << 8 | p[1];
    return len ? sum + ((uint32_t)p[0] << 8) : sum;
}

static uint16_t fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons((uint16_t)~sum);
}

/* Of TCP and UDP, with the addresses. */
static uint16_t sum_of(const struct iphdr *ip, const void *data, size_t len)
{
    uint32_t sum = add_words(0, &ip->saddr, 8) + ip->protocol + (uint32_t)len;

    return fold(add_words(sum, data, len));
}

static size_t make_ip4(uint8_t *packet, const struct place *from, const struct place *to, uint8_t protocol,
                       size_t payload)
{
    struct iphdr ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = protocol};

    ip.tot_len = htons((uint16_t)(sizeof(ip) + payload));
    ip.id = htons(4242);
    ip.saddr = from->v4.sin_addr.s_addr;
    ip.daddr = to->v4.sin_addr.s_addr;
    ip.check = fold(add_words(0, &ip, sizeof(ip)));
    memcpy(packet, &ip, sizeof(ip));
    return sizeof(ip) + payload;
}

size_t make_udp4(uint8_t *packet, const struct place *from, const struct place *to, const char *text,
                 size_t len)
{
    struct udphdr udp = {.source = from->v4.sin_port, .dest = to->v4.sin_port};
    size_t all = sizeof(udp) + len;
    uint8_t *start = packet + sizeof(struct iphdr);
    size_t size = make_ip4(packet, from, to, IPPROTO_UDP, all);

    udp.len = htons((uint16_t)all);
    memcpy(start, &udp, sizeof(udp));
    memcpy(start + sizeof(udp), text, len);
    udp.check = sum_of((struct iphdr *)packet, start, all);
    memcpy(start, &udp, sizeof(udp));
    return size;
}

size_t make_syn4(uint8_t *packet, const struct place *from, const struct place *to)
{
    struct tcphdr tcp = {.source = from->v4.sin_port, .dest = to->v4.sin_port, .doff = 5, .syn = 1};
    uint8_t *start = packet + sizeof(struct iphdr);
    size_t size = make_ip4(packet, from, to, IPPROTO_TCP, sizeof(tcp));

    tcp.seq = htonl(123456);
    tcp.window = htons(1024);
    memcpy(start, &tcp, sizeof(tcp));
    tcp.check = sum_of((struct iphdr *)packet, start, sizeof(tcp));
    memcpy(start, &tcp, sizeof(tcp));
    return size;
}

/* The word is what sendto said: a raw socket is told nothing later. */
static int send_raw(const uint8_t *packet, size_t len, const struct place *to)
{
    int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);

    if (fd < 0)
        return say_result(-1);
    return say_result(sendto(fd, packet, len, 0, &to->any, to->len));
}

static struct place from_port(const struct place *to)
{
    struct place from = own_place(to);

    from.v4.sin_port = htons(SPORT);
    return from;
}

/* ADDRESS PORT TEXT [FROM] */
int net_raw_udp(int argc, char **argv)
{
    uint8_t packet[ROOM];
    struct place to = place_of(argv[0], argv[1]);
    struct place from = argc > 3 ? place_of(argv[3], "53") : from_port(&to);

    return send_raw(packet, make_udp4(packet, &from, &to, argv[2], strlen(argv[2])), &to);
}

/* One of the pieces of a packet: `len` bytes of its payload from `at` on. */
static long send_piece(int fd, const uint8_t *packet, size_t at, size_t len, bool more,
                       const struct place *to)
{
    uint8_t piece[ROOM];
    struct iphdr ip;

    memcpy(&ip, packet, sizeof(ip));
    ip.frag_off = htons((uint16_t)(at / 8 | (more ? IP_MF : 0)));
    ip.tot_len = htons((uint16_t)(sizeof(ip) + len));
    ip.check = 0;
    ip.check = fold(add_words(0, &ip, sizeof(ip)));
    memcpy(piece, &ip, sizeof(ip));
    memcpy(piece + sizeof(ip), packet + sizeof(ip) + at, len);
    return sendto(fd, piece, sizeof(ip) + len, 0, &to->any, to->len);
}

/* ADDRESS PORT TEXT: in two pieces, the second one first: only the last has the ports. */
int net_raw_pieces(int argc, char **argv)
{
    uint8_t packet[ROOM];
    struct place to = place_of(argv[0], argv[1]), from = from_port(&to);
    size_t len = make_udp4(packet, &from, &to, argv[2], strlen(argv[2])) - sizeof(struct iphdr);
    int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);

    (void)argc;
    if (fd < 0 || send_piece(fd, packet, 8, len - 8, false, &to) < 0)
        return say_result(-1);
    return say_result(send_piece(fd, packet, 0, 8, true, &to));
}

/* ADDRESS PORT [FROM] */
int net_raw_syn(int argc, char **argv)
{
    uint8_t packet[ROOM];
    struct place to = place_of(argv[0], argv[1]);
    struct place from = argc > 2 ? place_of(argv[2], "53") : from_port(&to);

    return send_raw(packet, make_syn4(packet, &from, &to), &to);
}

/* ADDRESS PROTOCOL TEXT: a protocol that nobody knows the ports of. */
int net_raw_ip(int argc, char **argv)
{
    uint8_t packet[ROOM];
    struct place to = place_of(argv[0], "0"), from = own_place(&to);
    size_t len = make_ip4(packet, &from, &to, (uint8_t)atoi(argv[1]), strlen(argv[2]));

    (void)argc;
    memcpy(packet + sizeof(struct iphdr), argv[2], strlen(argv[2]));
    return send_raw(packet, len, &to);
}

/* plain|direct|marked INTERFACE ADDRESS PORT TEXT: as a frame to everybody. direct: past the queueing
 * discipline; marked: with each mark from 0 to 15. */
int net_packet(int argc, char **argv)
{
    uint8_t packet[ROOM];
    struct place to = place_of(argv[2], argv[3]), from = from_port(&to);
    size_t len = make_udp4(packet, &from, &to, argv[4], strlen(argv[4]));
    struct sockaddr_ll ll = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_halen = 6};
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;
    long rc = fd;

    (void)argc;
    ll.sll_ifindex = (int)if_nametoindex(argv[1]);
    memset(ll.sll_addr, 0xff, 6);
    if (fd < 0)
        return say_result(-1);
    if (strcmp(argv[0], "direct") == 0 &&
        setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) < 0)
        return say_result(-1);
    if (strcmp(argv[0], "marked") != 0)
        return say_result(sendto(fd, packet, len, 0, (struct sockaddr *)&ll, sizeof(ll)));
    for (int mark = 0; mark < 16; mark++) {
        if (setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0)
            return say_result(-1);
        rc = sendto(fd, packet, len, 0, (struct sockaddr *)&ll, sizeof(ll));
    }
    return say_result(rc);
}

static uint32_t crc32c(const uint8_t *data, size_t len)
{
    uint32_t crc = 0xffffffff;

    for (; len > 0; data++, len--) {
        crc ^= *data;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

/* ADDRESS PORT: the first chunk of an association. */
int net_sctp(int argc, char **argv)
{
    uint8_t packet[32] = {SPORT >> 8, SPORT & 0xff};
    struct place to = place_of(argv[0], "0");
    int port = atoi(argv[1]), fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_SCTP);
    static const uint8_t init[20] = {1, 0, 0, 20, 0, 0, 0, 7, 0, 0, 0x80, 0, 0, 1, 0, 1, 0, 0, 0, 9};
    uint32_t crc;

    (void)argc;
    if (fd < 0)
        return say_result(-1);
    packet[2] = (uint8_t)(port >> 8);
    packet[3] = (uint8_t)port;
    memcpy(packet + 12, init, sizeof(init));
    crc = crc32c(packet, sizeof(packet));
    memcpy(packet + 8, &crc, 4); /* little-endian, as the protocol has it */
    return say_result(sendto(fd, packet, sizeof(packet), 0, &to.any, to.len));
}

static bool is_reply(const uint8_t *packet, ssize_t len, bool v6)
{
    return v6 ? len >= 8 && packet[0] == 129 : len >= 28 && packet[20] == ICMP_ECHOREPLY;
}

/* ADDRESS TEXT: ok is an answer. */
int net_ping(int argc, char **argv)
{
    struct place to = place_of(argv[0], "0");
    bool v6 = to.any.sa_family == AF_INET6;
    uint8_t packet[ROOM] = {v6 ? 128 : ICMP_ECHO, 0, 0, 0, 0x42, 0x42, 0, 1};
    size_t len = 8 + strlen(argv[1]);
    int fd = socket(to.any.sa_family, SOCK_RAW | SOCK_CLOEXEC, v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
    uint16_t sum;

    (void)argc;
    if (fd < 0)
        return say_result(-1);
    memcpy(packet + 8, argv[1], len - 8);
    sum = fold(add_words(0, packet, len));
    memcpy(packet + 2, &sum, 2); /* IPv6: the kernel does it again */
    if (sendto(fd, packet, len, 0, &to.any, to.len) < 0)
        return say_result(-1);
    for (;;) {
        ssize_t n;

        if (wait_for(fd, POLLIN) < 0)
            return say_result(-1);
        n = recv(fd, packet, sizeof(packet), 0);
        if (n < 0 || is_reply(packet, n, v6))
            return say_result(n);
    }
}
