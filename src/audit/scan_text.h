/* scan_text: what the scanner needs of single strings: where they end, escapes, and which of two keys comes
 * first. Inline, since a record is some thirty strings and has some hundred nanoseconds. Private to
 * src/audit. */
#pragma once

#include "audit/scan.h"
#include "base/json_write.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* p is at a backslash. Length of the escape where it is the canonical one, else 0; *c is what it means. */
size_t st_scan_escape(const char *p, const char *end, unsigned char *c);

/* Two keys as scanned, one of them not plain: does a come before b? */
bool st_scan_ascending_odd(const struct st_scan_value *a, const struct st_scan_value *b,
                           enum st_scan_rules rules);

/* Two keys as scanned: does a come before b? */
static inline bool st_scan_ascending(const struct st_scan_value *a, const struct st_scan_value *b,
                                     enum st_scan_rules rules)
{
    size_t n = a->text.len < b->text.len ? a->text.len : b->text.len;
    int order;

    if (!a->plain || !b->plain)
        return st_scan_ascending_odd(a, b, rules);
    if (n && a->text.p[0] != b->text.p[0])
        return a->text.p[0] < b->text.p[0];
    order = memcmp(a->text.p, b->text.p, n);
    return order ? order < 0 : a->text.len < b->text.len;
}

/* Of the bytes at p, how many are plain: printable ASCII without quote and backslash. At most 16. */
static inline unsigned st_scan_plain_run(const char *p, const char *end)
{
    unsigned n = 0;

#ifdef __SSE2__
    if (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i odd =
            _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
        unsigned mask;

        /* The comparison is signed: bytes above 0x7f are negative, and below 0x20 as well. */
        odd = _mm_or_si128(odd, _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)));
        mask = (unsigned)_mm_movemask_epi8(odd);
        return mask ? (unsigned)__builtin_ctz(mask) : 16;
    }
#endif
    while (n < 16 && p + n < end && (unsigned char)p[n] >= 0x20 && (unsigned char)p[n] < 0x80 &&
           p[n] != '"' && p[n] != '\\')
        n++;
    return n;
}

/* The closing quote, from a byte of the string on that is not plain; NULL where it is not canonical. */
const char *st_scan_string_odd(const char *p, const char *end);

/* p is behind the opening quote; returns the closing one, NULL where the string is not canonical. */
static inline const char *st_scan_string_end(const char *p, const char *end, bool *plain)
{
    unsigned n;

    *plain = true;
    do {
        n = st_scan_plain_run(p, end);
        p += n;
    } while (n == 16);
    if (p < end && *p == '"')
        return p;
    *plain = false;
    return st_scan_string_odd(p, end);
}
