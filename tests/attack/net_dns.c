/* net, names: queries, a name server of one's own on loopback, and answers that come from nobody. */
#include "net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM 65536

static uint16_t type_number(const char *type)
{
    static const struct {
        const char *name;
        uint16_t number;
    } types[] = {{"A", 1},     {"NS", 2},   {"CNAME", 5}, {"NULL", 10},  {"MX", 15},  {"TXT", 16},
                 {"AAAA", 28}, {"SRV", 33}, {"SVCB", 64}, {"HTTPS", 65}, {"ANY", 255}};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].number;
    return (uint16_t)atoi(type);
}

/* The name as it stands: hostile ones are wanted. An empty label ends it. */
size_t make_query(uint8_t *message, size_t room, const char *name, const char *type, uint16_t id)
{
    uint8_t head[12] = {(uint8_t)(id >> 8), (uint8_t)id, 1, 0, 0, 1};
    uint16_t number = type_number(type);
    size_t at = sizeof(head);

    memcpy(message, head, sizeof(head));
    while (*name && at + 70 < room) {
        size_t label = strcspn(name, ".");

        message[at++] = (uint8_t)label;
        memcpy(message + at, name, label);
        at += label;
        name += label + (name[label] == '.');
    }
    message[at++] = 0;
    message[at++] = (uint8_t)(number >> 8);
    message[at++] = (uint8_t)number;
    message[at++] = 0;
    message[at++] = 1;
    return at;
}

size_t make_answer(uint8_t *message, size_t len, const char *address)
{
    static const uint8_t record[12] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 0, 0, 4};

    message[2] = 0x81;
    message[3] = 0x80;
    message[7] = 1;
    memcpy(message + len, record, sizeof(record));
    inet_pton(AF_INET, address, message + len + sizeof(record));
    return len + sizeof(record) + 4;
}

static size_t skip_name(const uint8_t *message, size_t len, size_t at)
{
    while (at < len && message[at] != 0) {
        if ((message[at] & 0xc0) == 0xc0)
            return at + 2;
        at += 1 + (size_t)message[at];
    }
    return at + 1;
}

static unsigned u16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* Each record of the answer section that has an address, through `text`, separated by commas. */
static void addresses(const uint8_t *message, size_t len, char *text, size_t room)
{
    size_t at = skip_name(message, len, 12) + 4;
    unsigned count = len >= 12 ? u16(message + 6) : 0;

    text[0] = '\0';
    for (; count > 0 && at < len; count--) {
        char one[INET6_ADDRSTRLEN];
        unsigned type, size;

        at = skip_name(message, len, at);
        if (at + 10 > len)
            return;
        type = u16(message + at);
        size = u16(message + at + 8);
        at += 10;
        if (at + size > len)
            return;
        if (((type == 1 && size == 4) || (type == 28 && size == 16)) &&
            inet_ntop(size == 4 ? AF_INET : AF_INET6, message + at, one, sizeof(one)))
            snprintf(text + strlen(text), room - strlen(text), "%s%s", *text ? "," : "", one);
        at += size;
    }
}

bool first_address(const uint8_t *message, size_t len, char *out)
{
    char all[4096];

    addresses(message, len, all, sizeof(all));
    snprintf(out, INET_ADDRSTRLEN, "%.*s", (int)strcspn(all, ","), all);
    return out[0] != '\0';
}

const char *rcode_word(const uint8_t *message, size_t len)
{
    static const char *const words[16] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"};

    if (len < 12)
        return "short";
    if (message[2] & 2)
        return "truncated";
    return words[message[3] & 15] ? words[message[3] & 15] : "other";
}

/* The code, and the addresses behind it. */
static int say_message(const uint8_t *message, ssize_t len)
{
    char all[4096];

    if (len < 0)
        return say_result(-1);
    addresses(message, (size_t)len, all, sizeof(all));
    printf("%s%s%s\n", rcode_word(message, (size_t)len), *all ? " " : "", all);
    return 0;
}

/* A socket that is connected to the server; -1 with errno. */
static ssize_t ask(int fd, const char *name, const char *type, uint16_t id, uint8_t *answer)
{
    uint8_t query[1024];
    size_t len = make_query(query, sizeof(query), name, type, id);

    if (send(fd, query, len, MSG_NOSIGNAL) < 0 || wait_for(fd, POLLIN) < 0)
        return -1;
    return recv(fd, answer, ROOM, 0);
}

static int udp_to(const char *server, const char *port)
{
    struct place to = place_of(server, port);
    int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, &to.any, to.len) < 0)
        return -1;
    return fd;
}

/* SERVER PORT NAME TYPE [ID] */
int net_dns(int argc, char **argv)
{
    static uint8_t answer[ROOM];
    int fd = udp_to(argv[0], argv[1]);

    if (fd < 0)
        return say_result(-1);
    return say_message(answer,
                       ask(fd, argv[2], argv[3], (uint16_t)(argc > 4 ? atoi(argv[4]) : getpid()), answer));
}

static ssize_t read_all(int fd, uint8_t *to, size_t len)
{
    for (size_t got = 0; got < len;) {
        ssize_t n = wait_for(fd, POLLIN) < 0 ? -1 : recv(fd, to + got, len - got, 0);

        if (n == 0)
            errno = ECONNRESET;
        if (n <= 0)
            return -1;
        got += (size_t)n;
    }
    return (ssize_t)len;
}

/* SERVER PORT NAME TYPE [split]: by TCP; split: its length and each byte of the start in a segment of its
 * own. */
int net_dns_tcp(int argc, char **argv)
{
    static uint8_t answer[ROOM];
    uint8_t query[1024];
    struct place to = place_of(argv[0], argv[1]);
    int fd = connect_to(&to);
    size_t len = make_query(query + 2, sizeof(query) - 2, argv[2], argv[3], (uint16_t)getpid()), at = 0;

    if (fd < 0)
        return say_result(-1);
    query[0] = (uint8_t)(len >> 8);
    query[1] = (uint8_t)len;
    for (; argc > 4 && at < 8; at++)
        if (send_all(fd, query + at, 1) < 0)
            return say_result(-1);
    if (send_all(fd, query + at, len + 2 - at) < 0 || read_all(fd, answer, 2) < 0)
        return say_result(-1);
    return say_message(answer, read_all(fd, answer, u16(answer)));
}

/* SERVER NAME PORT TIMES: look the name up and connect at once to what was answered, so many times. The word
 * is how often it worked. */
int net_named(int argc, char **argv)
{
    static uint8_t answer[ROOM];
    int fd = udp_to(argv[0], "53"), worked = 0, times = atoi(argv[3]);

    (void)argc;
    for (int i = 0; i < times; i++) {
        char address[INET_ADDRSTRLEN];
        ssize_t len = ask(fd, argv[1], "A", (uint16_t)i, answer);
        struct place to;
        int got;

        if (len < 0 || !first_address(answer, (size_t)len, address))
            continue;
        to = place_of(address, argv[2]);
        got = connect_to(&to);
        if (got < 0)
            continue;
        worked++;
        close(got);
    }
    printf("%d\n", worked);
    return 0;
}

static void serve(int fd, const char *address)
{
    static uint8_t message[ROOM];
    struct place from = {.len = sizeof(from.v6)};

    for (;;) {
        ssize_t n = recvfrom(fd, message, sizeof(message) - 64, 0, &from.any, &from.len);

        if (n > 12)
            sendto(fd, message, make_answer(message, (size_t)n, address), 0, &from.any, from.len);
    }
}

/* NAME ADDRESS PORT [LISTEN]: a name server at 127.0.0.1:53 that says the name is there; ask it, connect. The
 * word is what connect said. */
int net_own_resolver(int argc, char **argv)
{
    static uint8_t answer[ROOM];
    const char *listen_at = argc > 3 ? argv[3] : "127.0.0.1";
    struct place at = place_of(listen_at, "53"), to = place_of(argv[1], argv[2]);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    pid_t child;
    ssize_t len;

    if (fd < 0 || bind(fd, &at.any, at.len) < 0) {
        perror("net: no name server");
        return 2;
    }
    child = fork();
    if (child == 0)
        serve(fd, argv[1]);
    len = ask(udp_to(listen_at, "53"), argv[0], "A", 1, answer);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (len < 0)
        fprintf(stderr, "net: our own name server did not answer\n");
    return say_result(connect_to(&to));
}

/* SERVER NAME ADDRESS PORT: a query to the server, and with it, by a raw socket, answers in the server's name
 * that say the name is at ADDRESS. The word is what connect to it said. */
int net_spoof(int argc, char **argv)
{
    static uint8_t packet[4096], got[ROOM];
    uint8_t message[1024];
    struct place server = place_of(argv[0], "53"), to = place_of(argv[2], argv[3]), own = own_place(&server);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
        raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    size_t query = make_query(message, sizeof(message), argv[1], "A", 77), len;

    (void)argc;
    own.v4.sin_port = htons(40404);
    if (raw < 0 || bind(fd, &own.any, own.len) < 0)
        return say_result(-1);
    sendto(fd, message, query, 0, &server.any, server.len);
    len = make_udp4(packet, &server, &own, (char *)message, make_answer(message, query, argv[2]));
    for (int i = 0; i < 20; i++)
        sendto(raw, packet, len, 0, &own.any, own.len);
    if (wait_for(fd, POLLIN) == 0)
        recv(fd, got, sizeof(got), 0);
    return say_result(connect_to(&to));
}
