/* dns_unit: DNS messages put together, for tests. */
#pragma once

#include "sensors/net/dns_answer.h"

#include "net_unit.h"

#define RESPONSE 0x8180
#define RECURSIVE_QUERY 0x0100

static inline void header(struct bytes *m, unsigned flags, unsigned answers, unsigned additional)
{
    m->n = 0;
    put16(m, 0x2b1d);
    put16(m, flags);
    put16(m, 1);
    put16(m, answers);
    put16(m, 0);
    put16(m, additional);
}

static inline void name(struct bytes *m, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, ".");

        put8(m, (unsigned)n);
        put_bytes(m, text, n);
        text += n + (text[n] == '.');
    }
    put8(m, 0);
}

static inline void question(struct bytes *m, const char *asked, unsigned type)
{
    name(m, asked);
    put16(m, type);
    put16(m, 1);
}

static inline void record(struct bytes *m, const char *owner, unsigned type, uint32_t ttl, unsigned len)
{
    name(m, owner);
    put16(m, type);
    put16(m, 1);
    put32(m, ttl);
    put16(m, len);
}

static inline void alias(struct bytes *m, const char *owner, uint32_t ttl, const char *target)
{
    record(m, owner, ST_DNS_CNAME, ttl, (unsigned)strlen(target) + 2);
    name(m, target);
}

static inline void address(struct bytes *m, const char *owner, uint32_t ttl, uint32_t addr)
{
    record(m, owner, ST_DNS_A, ttl, 4);
    put32(m, addr);
}
