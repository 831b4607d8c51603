/* net_unit: bytes of packets, for tests: written as people read them in a dump, or put together. */
#pragma once

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

struct bytes {
    size_t n;
    uint8_t b[20000];
};

static inline void put8(struct bytes *m, unsigned v)
{
    assert_true(m->n < sizeof(m->b));
    m->b[m->n++] = (uint8_t)v;
}

static inline void put16(struct bytes *m, unsigned v)
{
    put8(m, v >> 8);
    put8(m, v & 0xff);
}

static inline void put32(struct bytes *m, uint32_t v)
{
    put16(m, v >> 16);
    put16(m, v & 0xffff);
}

static inline void put_bytes(struct bytes *m, const void *bytes, size_t n)
{
    assert_true(n <= sizeof(m->b) - m->n);
    memcpy(m->b + m->n, bytes, n);
    m->n += n;
}

static inline void put_text(struct bytes *m, const char *text)
{
    put_bytes(m, text, strlen(text));
}

/* Two digits a byte; white space between is nothing. */
static inline void put_hex(struct bytes *m, const char *hex)
{
    for (; *hex; hex++) {
        char pair[3] = {hex[0], hex[1], 0};

        if (*hex == ' ' || *hex == '\n')
            continue;
        put8(m, (unsigned)strtoul(pair, NULL, 16));
        hex++;
    }
}

/* A capture that the fuzzers begin with as well. */
static inline void put_seed(struct bytes *m, const char *folder, const char *name)
{
    const char *top = getenv("ST_SRCDIR");
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s/%s", top ? top : "..", folder, name);
    f = fopen(path, "re");
    if (!f)
        fail_msg("%s can't be opened (ST_SRCDIR: where the sources are)", path);
    m->n += fread(m->b + m->n, 1, sizeof(m->b) - m->n, f);
    fclose(f);
}
