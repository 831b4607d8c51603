/* host: see host.h. Names come from the wire in A-label form; U-labels come from people who write policies
 * and from clients that put them raw into a header. */
#include "model/host.h"

#include "base/json_write.h"

#include <stdint.h>

#define MAX_LABEL 63

static bool ascii_ok(unsigned char c)
{
    return c > 0x20 && c != 0x7f && !strchr("\"#%/:<>?@[\\]^`{|}*,;()'&=+$!~", c);
}

/* RFC 3492, section 6.1. */
static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
    uint32_t k = 0;

    delta = first ? delta / 700 : delta / 2;
    delta += delta / points;
    for (; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

static char punycode_digit(uint32_t d)
{
    return (char)(d < 26 ? 'a' + d : '0' + (d - 26));
}

static bool put(char *out, size_t *used, char c)
{
    if (*used == MAX_LABEL)
        return false;
    out[(*used)++] = c;
    return true;
}

/* One number as a generalised variable-length integer. */
static bool put_delta(char *out, size_t *used, uint32_t q, uint32_t bias)
{
    for (uint32_t k = 36;; k += 36) {
        uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;

        if (q < t)
            return put(out, used, punycode_digit(q));
        if (!put(out, used, punycode_digit(t + (q - t) % (36 - t))))
            return false;
        q = (q - t) / (36 - t);
    }
}

/* RFC 3492, section 6.3. At most MAX_LABEL points, so that no number overflows. */
static bool punycode(const uint32_t *points, size_t n, char *out, size_t *used)
{
    uint32_t next = 0x80, delta = 0, bias = 72, handled = 0, basic;

    for (size_t i = 0; i < n; i++)
        if (points[i] < 0x80) {
            if (!put(out, used, (char)points[i]))
                return false;
            handled++;
        }
    basic = handled;
    if (basic && !put(out, used, '-'))
        return false;
    while (handled < n) {
        uint32_t least = UINT32_MAX;

        for (size_t i = 0; i < n; i++)
            if (points[i] >= next && points[i] < least)
                least = points[i];
        delta += (least - next) * (handled + 1);
        next = least;
        for (size_t i = 0; i < n; i++) {
            delta += points[i] < next;
            if (points[i] != next)
                continue;
            if (!put_delta(out, used, delta, bias))
                return false;
            bias = adapt(delta, handled + 1, handled == basic);
            delta = 0;
            handled++;
        }
        delta++;
        next++;
    }
    return true;
}

/* Lower case for the scripts in which people register names; 0: a character that we do not map (combining
 * marks: the name would not be in composed form; separators; private use). */
static uint32_t fold(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : ascii_ok((unsigned char)c) ? c : 0;
    if (c < 0xa0 || (c >= 0x300 && c <= 0x36f) || (c >= 0x2000 && c <= 0x206f) ||
        (c >= 0x20d0 && c <= 0x20ff) || (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfe00)
        return 0;
    if (c >= 0xc0 && c <= 0xde && c != 0xd7)
        return c + 32;
    if ((c >= 0x100 && c <= 0x12f) || (c >= 0x132 && c <= 0x137) || (c >= 0x14a && c <= 0x177))
        return c | 1;
    if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
        return c & 1 ? c + 1 : c;
    if (c == 0x130)
        return 0;
    if (c == 0x178)
        return 0xff;
    if (c >= 0x391 && c <= 0x3a9 && c != 0x3a2)
        return c + 32;
    if (c >= 0x410 && c <= 0x42f)
        return c + 32;
    return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}

static uint32_t decode(const unsigned char *s, size_t len)
{
    switch (len) {
    case 1: return s[0];
    case 2: return (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f);
    case 3: return (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
    default:
        return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3f) << 12 | (uint32_t)(s[2] & 0x3f) << 6 |
               (s[3] & 0x3f);
    }
}

/* One label that is not ASCII, as `xn--…`. Returns its length, 0: can't. */
static size_t a_label(const char *s, size_t n, char out[MAX_LABEL])
{
    uint32_t points[MAX_LABEL];
    size_t n_points = 0, used = 4;

    for (size_t i = 0; i < n;) {
        size_t len = st_utf8_len((const unsigned char *)s + i, n - i);

        if (len == 0 || n_points == MAX_LABEL)
            return 0;
        points[n_points] = fold(decode((const unsigned char *)s + i, len));
        if (points[n_points++] == 0)
            return 0;
        i += len;
    }
    memcpy(out, "xn--", 4);
    return punycode(points, n_points, out, &used) ? used : 0;
}

static size_t ascii_label(const char *s, size_t n, char out[MAX_LABEL])
{
    if (n > MAX_LABEL)
        return 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c >= 0x80 || !ascii_ok(c))
            return 0;
        out[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    return n;
}

static bool is_ascii(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 0x80)
            return false;
    return true;
}

size_t st_host_canonical(struct st_str text, char out[ST_HOST_SIZE])
{
    const char *s = text.p, *end;
    size_t used = 0;

    if (!s || text.len == 0 || text.len > 4 * ST_HOST_MAX)
        return 0;
    end = s + text.len - (text.p[text.len - 1] == '.');
    for (;;) {
        const char *dot = memchr(s, '.', (size_t)(end - s));
        size_t n = (size_t)((dot ? dot : end) - s), made;
        char label[MAX_LABEL];

        made = is_ascii(s, n) ? ascii_label(s, n, label) : a_label(s, n, label);
        if (made == 0 || used + made > ST_HOST_MAX)
            return 0;
        memcpy(out + used, label, made);
        used += made;
        if (!dot)
            break;
        if (used == ST_HOST_MAX)
            return 0;
        out[used++] = '.';
        s = dot + 1;
    }
    out[used] = '\0';
    return used;
}
