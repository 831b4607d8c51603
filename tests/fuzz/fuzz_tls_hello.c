/* Any bytes as the beginning of a TLS client's stream: wherever it is cut, the answer is MORE up to some byte
 * and one and the same from there on; a hello that is read reads the same in records of any other size. */
#include "sensors/net/tls_hello.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool same(const struct st_tls_hello *a, const struct st_tls_hello *b)
{
    return a->sni_len == b->sni_len && strcmp(a->sni, b->sni) == 0 && a->ech == b->ech &&
           a->alpn == b->alpn && a->alpn_cut == b->alpn_cut && strcmp(a->alpn_text, b->alpn_text) == 0 &&
           a->why == b->why;
}

static void check_cuts(const uint8_t *data, size_t size, enum st_hello_is is,
                       const struct st_tls_hello *hello)
{
    size_t step = size / 64 + 1;
    bool decided = false;

    for (size_t n = 0; n < size; n += step) {
        struct st_tls_hello part;
        enum st_hello_is then = st_tls_hello_read(data, n, &part);

        demand(!decided || then != ST_HELLO_MORE);
        decided = then != ST_HELLO_MORE;
        demand(!decided || (then == is && same(&part, hello)));
    }
}

/* The handshake out of its records, in records of `piece` bytes. */
static void check_records(const uint8_t *data, size_t size, size_t piece, const struct st_tls_hello *hello)
{
    static uint8_t shake[ST_HELLO_MAX], out[7 * ST_HELLO_MAX];
    size_t n = 0, used = 0, len;
    struct st_tls_hello other;

    for (size_t at = 0; at + 5 < size && n < 16000;) {
        size_t body = (size_t)data[at + 3] << 8 | data[at + 4];

        at += 5;
        if (body > size - at)
            body = size - at;
        if (body > sizeof(shake) - n)
            body = sizeof(shake) - n;
        memcpy(shake + n, data + at, body);
        n += body;
        at += body;
        if (n >= 4 && n - 4 >= ((size_t)shake[2] << 8 | shake[3]))
            break;
    }
    len = ((size_t)shake[2] << 8 | shake[3]) + 4;
    demand(len <= n);
    for (size_t at = 0; at < len; at += piece) {
        size_t body = len - at < piece ? len - at : piece;
        const uint8_t head[] = {22, 3, 3, (uint8_t)(body >> 8), (uint8_t)body};

        memcpy(out + used, head, sizeof(head));
        memcpy(out + used + sizeof(head), shake + at, body);
        used += sizeof(head) + body;
    }
    if (used <= ST_HELLO_MAX)
        demand(st_tls_hello_read(out, used, &other) == ST_HELLO_DONE && same(&other, hello));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct st_tls_hello hello;
    enum st_hello_is is = st_tls_hello_read(data, size, &hello);

    demand((is == ST_HELLO_MALFORMED) == (hello.why != NULL));
    demand(is != ST_HELLO_MORE || size < ST_HELLO_MAX);
    demand(strlen(hello.alpn_text) < ST_ALPN_SIZE);
    if (is == ST_HELLO_DONE) {
        char again[ST_HOST_SIZE];

        demand(strlen(hello.sni) == hello.sni_len);
        if (hello.sni_len)
            demand(st_host_canonical((struct st_str){hello.sni, hello.sni_len}, again) == hello.sni_len &&
                   strcmp(again, hello.sni) == 0);
        check_records(data, size, size % 97 + 1, &hello);
    }
    check_cuts(data, size, is, &hello);
    return 0;
}
