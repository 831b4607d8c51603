/* tls_hello: which host a client means, from the first bytes that it sends on a connection (RFC 8446, 4.1.2).
 *
 * A function of those bytes and nothing else, called again when more have come: who collects them
 * (reassembly.h) keeps them, and no cut of the stream can change the answer. Once it is another than MORE,
 * it stays. */
#pragma once

#include "model/host.h"

#include <stdbool.h>
#include <stdint.h>

#define ST_HELLO_MAX 16384 /* bytes of the stream in which the hello must be whole */
#define ST_ALPN_SIZE 256

enum st_hello_is {
    ST_HELLO_MORE,
    ST_HELLO_DONE,
    ST_HELLO_NOT_TLS,
    ST_HELLO_SSL2, /* the hello of SSLv2, which has no names */
    ST_HELLO_MALFORMED
};

struct st_tls_hello {
    size_t sni_len; /* 0: no name in it */
    char sni[ST_HOST_SIZE];
    bool ech;                     /* the name is (or pretends to be) another, encrypted one */
    bool alpn, alpn_cut;          /* there; more of it than there was room for */
    char alpn_text[ST_ALPN_SIZE]; /* "h2,http/1.1"; bytes other than letters, digits and -./_ as \x0a */
    const char *why;              /* of MALFORMED, in words */
};

enum st_hello_is st_tls_hello_read(const uint8_t *bytes, size_t n, struct st_tls_hello *out);
