/* resolvers: the name servers of a resolv.conf, read as the C library reads them (its `nameserver` lines;
 * text that is none is passed over). The text may be anybody's. */
#pragma once

#include "model/addr.h"

#define ST_RESOLVERS_MAX 16
#define ST_RESOLVERS_TEXT_MAX 65536

struct st_resolvers {
    size_t n;        /* 0: the C library asks 127.0.0.1 then; whether one may is the caller's business */
    size_t left_out; /* more than there is room for */
    size_t unread;   /* nameserver lines without an address */
    struct st_addr addrs[ST_RESOLVERS_MAX]; /* each once, in the order of the text */
};

/* An interface (`fe80::1%eth0`) is not kept: the address counts on all of them. The unspecified address is
 * loopback, as it is for who sends to it. false: text over ST_RESOLVERS_TEXT_MAX, and *out is empty. */
bool st_resolvers_read(struct st_str text, struct st_resolvers *out);
