/* authority: `host`, `host:port`, `[address]:port`, as a Host header and a target have them (RFC 3986, 3.2,
 * without what a client may not send: user names, escapes, an empty port). */
#pragma once

#include "model/addr.h"
#include "model/host.h"

struct st_authority {
    size_t host_len; /* 0: an address, or nothing */
    char host[ST_HOST_SIZE];
    struct st_addr addr; /* any spelling of one is an address and no name */
    uint16_t port;       /* 0: not said */
};

bool st_authority_read(const uint8_t *text, size_t n, struct st_authority *out);

/* The same host, whatever the port. */
bool st_authority_same_host(const struct st_authority *a, const struct st_authority *b);
