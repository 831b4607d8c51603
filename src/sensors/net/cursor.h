/* cursor: big-endian numbers and runs of bytes out of memory of known length. A read beyond the end gives
 * zero, or NULL, and leaves the cursor bad for good: one look at the end of a parse is enough. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct st_cursor {
    const uint8_t *p;
    size_t left;
    bool bad;
};

static inline struct st_cursor st_cursor(const uint8_t *bytes, size_t n)
{
    return (struct st_cursor){bytes, n, false};
}

/* The next n bytes; NULL: there are not as many. */
static inline const uint8_t *st_take(struct st_cursor *c, size_t n)
{
    const uint8_t *at = c->p;

    if (c->bad || n > c->left) {
        c->bad = true;
        c->left = 0;
        return NULL;
    }
    if (n) {
        c->p += n;
        c->left -= n;
    }
    return at;
}

/* The next n bytes as a cursor of their own, which is bad where there are not as many. */
static inline struct st_cursor st_take_run(struct st_cursor *c, size_t n)
{
    const uint8_t *at = st_take(c, n);

    return (struct st_cursor){at, c->bad ? 0 : n, c->bad};
}

static inline uint8_t st_take8(struct st_cursor *c)
{
    const uint8_t *at = st_take(c, 1);

    return at ? at[0] : 0;
}

static inline uint16_t st_take16(struct st_cursor *c)
{
    const uint8_t *at = st_take(c, 2);

    return at ? (uint16_t)(at[0] << 8 | at[1]) : 0;
}

static inline uint32_t st_take24(struct st_cursor *c)
{
    const uint8_t *at = st_take(c, 3);

    return at ? (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2] : 0;
}

static inline uint32_t st_take32(struct st_cursor *c)
{
    const uint8_t *at = st_take(c, 4);

    return at ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3] : 0;
}

static inline void st_store16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void st_store32(uint8_t *at, uint32_t value)
{
    st_store16(at, value >> 16);
    st_store16(at + 2, value & 0xffff);
}
