/* scan_text: see scan_text.h. */
#include "audit/scan_text.h"

#include "base/json_write.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t st_scan_escape(const char *p, const char *end, unsigned char *c)
{
    static const char from[] = "\"\\bfnrt", to[] = "\"\\\b\f\n\r\t";
    const char *found;
    int high, low;

    if (end - p < 2)
        return 0;
    found = p[1] ? strchr(from, p[1]) : NULL;
    if (found) {
        *c = (unsigned char)to[found - from];
        return 2;
    }
    if (end - p < 6 || memcmp(p + 1, "u00", 3) != 0)
        return 0;
    high = hex_digit(p[4]);
    low = hex_digit(p[5]);
    if (high < 0 || high > 1 || low < 0)
        return 0;
    *c = (unsigned char)(high << 4 | low);
    return *c == '\b' || *c == '\f' || *c == '\n' || *c == '\r' || *c == '\t' ? 0 : 6;
}

/* One UTF-16 code unit after the other of a string as written; -1 at its end. */
struct units {
    const char *p, *end;
    int32_t low; /* second half of a pair that waits; 0: none */
};

static int32_t next_unit(struct units *u)
{
    const unsigned char *s = (const unsigned char *)u->p;
    unsigned char c = 0;
    int32_t code, low = u->low;
    size_t len;

    u->low = 0;
    if (low)
        return low;
    if (u->p == u->end)
        return -1;
    if (*s == '\\') {
        u->p += st_scan_escape(u->p, u->end, &c);
        return c;
    }
    len = st_utf8_len(s, (size_t)(u->end - u->p));
    u->p += len;
    if (len == 1)
        return *s;
    code = *s & (0x7f >> len);
    for (size_t i = 1; i < len; i++)
        code = code << 6 | (s[i] & 0x3f);
    if (code < 0x10000)
        return code;
    u->low = 0xdc00 + ((code - 0x10000) & 0x3ff);
    return 0xd800 + ((code - 0x10000) >> 10);
}

static bool ascending_units(struct st_str a, struct st_str b)
{
    struct units ua = {a.p, a.p + a.len, 0}, ub = {b.p, b.p + b.len, 0};

    for (;;) {
        int32_t x = next_unit(&ua), y = next_unit(&ub);

        if (x != y)
            return x < y;
        if (x < 0)
            return false;
    }
}

/* Bytes of the value, not of the text: an escape stands for the byte that it means. */
static bool ascending_bytes(struct st_str a, struct st_str b)
{
    const char *p = a.p, *q = b.p;

    for (;;) {
        unsigned char x = 0, y = 0;
        bool a_ends = p == a.p + a.len, b_ends = q == b.p + b.len;

        if (a_ends || b_ends)
            return a_ends && !b_ends;
        if (*p == '\\')
            p += st_scan_escape(p, a.p + a.len, &x);
        else
            x = (unsigned char)*p++;
        if (*q == '\\')
            q += st_scan_escape(q, b.p + b.len, &y);
        else
            y = (unsigned char)*q++;
        if (x != y)
            return x < y;
    }
}

bool st_scan_ascending_odd(const struct st_scan_value *a, const struct st_scan_value *b,
                           enum st_scan_rules rules)
{
    return rules == ST_SCAN_RFC8785 ? ascending_units(a->text, b->text) : ascending_bytes(a->text, b->text);
}

const char *st_scan_string_odd(const char *p, const char *end)
{
    for (;;) {
        unsigned n = st_scan_plain_run(p, end);
        unsigned char c;
        size_t len;

        p += n;
        if (n == 16)
            continue;
        if (p >= end)
            return NULL;
        if (*p == '"')
            return p;
        len = *p == '\\' ? st_scan_escape(p, end, &c)
                         : st_utf8_len((const unsigned char *)p, (size_t)(end - p));
        if (len == 0 || (len == 1 && (unsigned char)*p < 0x20))
            return NULL;
        p += len;
    }
}
