/* net, the first word of TLS: a ClientHello with any name or none, in any number of segments. */
#include "net.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    uint8_t data[2048];
    size_t len;
};

static void put(struct writer *w, const void *data, size_t len)
{
    memcpy(w->data + w->len, data, len);
    w->len += len;
}

static void put_u8(struct writer *w, unsigned value)
{
    w->data[w->len++] = (uint8_t)value;
}

static void put_u16(struct writer *w, unsigned value)
{
    put_u8(w, value >> 8);
    put_u8(w, value);
}

/* What was written since `at`, as the length that stands there. */
static void close_u16(struct writer *w, size_t at)
{
    size_t len = w->len - at - 2;

    w->data[at] = (uint8_t)(len >> 8);
    w->data[at + 1] = (uint8_t)len;
}

static size_t open_u16(struct writer *w)
{
    put_u16(w, 0);
    return w->len - 2;
}

static void put_name(struct writer *w, const char *name)
{
    size_t extension, list;

    put_u16(w, 0);
    extension = open_u16(w);
    list = open_u16(w);
    put_u8(w, 0);
    put_u16(w, (unsigned)strlen(name));
    put(w, name, strlen(name));
    close_u16(w, list);
    close_u16(w, extension);
}

/* Encrypted ClientHello, outer form; its content is nobody's business. */
static void put_encrypted(struct writer *w)
{
    static const uint8_t head[8] = {0, 0, 1, 0, 1, 42, 0, 32};
    size_t extension;

    put_u16(w, 0xfe0d);
    extension = open_u16(w);
    put(w, head, sizeof(head));
    for (int i = 0; i < 32; i++)
        put_u8(w, (unsigned)i);
    put_u16(w, 64);
    for (int i = 0; i < 64; i++)
        put_u8(w, (unsigned)i * 3);
    close_u16(w, extension);
}

/* Of TLS 1.2: no key share is needed for an answer. */
static void put_extensions(struct writer *w, const char *name, bool encrypted)
{
    static const uint8_t groups[] = {0, 10, 0, 4, 0, 2, 0, 23}, points[] = {0, 11, 0, 2, 1, 0},
                         signatures[] = {0, 13, 0, 6, 0, 4, 4, 3, 4, 1};
    size_t all = open_u16(w);

    if (encrypted)
        put_encrypted(w);
    put(w, groups, sizeof(groups));
    put(w, points, sizeof(points));
    put(w, signatures, sizeof(signatures));
    if (strcmp(name, "-") != 0)
        put_name(w, name);
    close_u16(w, all);
}

static void make_hello(struct writer *w, const char *name, bool encrypted)
{
    static const uint8_t ciphers[] = {0, 4, 0xc0, 0x2b, 0xc0, 0x2f};
    size_t record, hello;

    put_u8(w, 22);
    put_u16(w, 0x0301);
    record = open_u16(w);
    put_u8(w, 1);
    put_u8(w, 0);
    hello = open_u16(w);
    put_u16(w, 0x0303);
    for (int i = 0; i < 32; i++)
        put_u8(w, 0xa0U + (unsigned)i);
    put_u8(w, 0);
    put(w, ciphers, sizeof(ciphers));
    put_u8(w, 1);
    put_u8(w, 0);
    put_extensions(w, name, encrypted);
    close_u16(w, hello);
    close_u16(w, record);
}

/* ADDRESS PORT NAME|- PIECES [encrypted]: the word is the other side's: ok for its ServerHello, alert,
 * closed. */
int net_hello(int argc, char **argv)
{
    struct writer w = {.len = 0};
    struct place to = place_of(argv[0], argv[1]);
    size_t pieces = (size_t)atoi(argv[3]), at = 0;
    int fd = connect_to(&to), on = 1;
    uint8_t answer[16];
    ssize_t n;

    if (fd < 0)
        return say_result(fd);
    make_hello(&w, argv[2], argc > 4);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    for (; pieces > 0; pieces--) {
        size_t len = (w.len - at) / pieces;

        if (send_all(fd, w.data + at, len) < 0)
            return say_result(-1);
        at += len;
    }
    if (wait_for(fd, POLLIN) < 0)
        return say_result(-1);
    n = recv(fd, answer, sizeof(answer), 0);
    if (n > 0 && answer[0] == 22)
        return say_result(0);
    if (n < 0)
        return say_result(-1);
    puts(n == 0 ? "closed" : "alert");
    return 1;
}
