/* net: what the parts of the program share. Each verb prints one word: what the kernel or the other side
 * answered ("ok", an errno's name, "timeout", "closed"), or what it was asked for. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct place {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
    socklen_t len;
};

/* How long to wait before giving up: never a pass, only the end of one that has failed. */
#define PATIENCE_MS 4000

/* In numbers: also decimal, octal and hexadecimal ones, and ::ffff:1.2.3.4. Ends the program where it is
 * none. */
struct place place_of(const char *host, const char *port);
/* The address from which the kernel would send to it; nothing is sent. */
struct place own_place(const struct place *to);

/* -1 with errno; ETIMEDOUT when patience is over. */
int connect_to(const struct place *to);
int wait_for(int fd, short events);
int send_all(int fd, const void *data, size_t len);

/* The word for a result: 0 and more is "ok". Returns the exit code. */
int say_result(long rc);

/* IPv4, in network order, with checksums; returns the length of the packet. */
size_t make_udp4(uint8_t *packet, const struct place *from, const struct place *to, const char *text,
                 size_t len);
size_t make_syn4(uint8_t *packet, const struct place *from, const struct place *to);

/* A query; id in host order. Returns its length. An answer is the query with `address` to it. */
size_t make_query(uint8_t *message, size_t room, const char *name, const char *type, uint16_t id);
size_t make_answer(uint8_t *message, size_t len, const char *address);
/* The first address of type A in an answer, into out (INET_ADDRSTRLEN). */
bool first_address(const uint8_t *message, size_t len, char *out);
const char *rcode_word(const uint8_t *message, size_t len);

/* The verbs: argv without program and verb, NULL at the end. */
typedef int verb(int argc, char **argv);
verb net_raw_udp, net_raw_pieces, net_raw_syn, net_raw_ip, net_packet, net_sctp, net_ping;
verb net_dns, net_dns_tcp, net_named, net_own_resolver, net_spoof;
verb net_hello;
