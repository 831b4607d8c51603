/* http_head: which host the first request on a connection is for (RFC 9112, 3.2), read as the strictest
 * server would: what servers read differently is refused.
 *
 * A function of the stream's first bytes, called again when more have come, as tls_hello.h. */
#pragma once

#include "sensors/net/authority.h"

#define ST_HEAD_MAX 16384 /* bytes of the stream in which the head must be whole */

enum st_head_is {
    ST_HEAD_MORE,
    ST_HEAD_DONE,
    ST_HEAD_NOT_HTTP,
    ST_HEAD_H2, /* HTTP/2 from the first byte on: its names are packed, and not judged here */
    ST_HEAD_MALFORMED
};

struct st_http_head {
    struct st_authority host; /* nothing: HTTP/1.0 without a Host */
    bool connect;             /* host is where the proxy shall connect to */
    size_t len;               /* of the head, its empty line included */
    const char *why;          /* of MALFORMED, in words */
};

enum st_head_is st_http_head_read(const uint8_t *bytes, size_t n, struct st_http_head *out);
