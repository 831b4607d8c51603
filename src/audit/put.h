/* put: a cursor that writes canonical JSON into memory whose size was reckoned beforehand.
 *
 * The writer of the trace has some hundred nanoseconds for a record, so nothing here checks room, grows or
 * allocates: the caller has made sure of the upper bound (st_payload_bound, st_record_bound).
 * Private to src/audit. */
#pragma once

#include "base/base64.h"
#include "base/json_write.h"
#include "model/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* No byte of a string takes more than this in quotes: \u0000. Invalid UTF-8 takes three for each byte. */
#define ST_PUT_WORST 6

static inline char *st_put(char *p, const char *s, size_t n)
{
    memcpy(p, s, n);
    return p + n;
}

#define ST_PUT_LIT(p, literal) st_put(p, literal, sizeof(literal) - 1)

static inline char *st_put_u64(char *p, uint64_t n)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return st_put(p, digits + at, sizeof(digits) - at);
}

/* Clamped to 53 bits, as everywhere. */
static inline char *st_put_int(char *p, int64_t n)
{
    if (n > ST_JSON_INT_MAX - 1)
        n = ST_JSON_INT_MAX - 1;
    if (n < -(ST_JSON_INT_MAX - 1))
        n = -(ST_JSON_INT_MAX - 1);
    if (n < 0)
        *p++ = '-';
    return st_put_u64(p, (uint64_t)(n < 0 ? -n : n));
}

/* Has any of the eight bytes to be looked at singly: below 0x20, '"', '\\', or not ASCII? (A byte just
 * above a hit may be reported too: the answer is then a false yes, never a false no.) */
static inline uint64_t st_put_special(uint64_t v)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t quote = v ^ (ones * '"'), slash = v ^ (ones * '\\');

    return (v | (v - ones * 0x20) | (quote - ones) | (slash - ones)) & high;
}

/* One string with its quotes. *exact becomes false where bytes that are not UTF-8 were replaced. */
char *st_put_string(char *p, struct st_str s, bool *exact);
