/* put: see put.h. */
#include "audit/put.h"

static char *put_escape(char *p, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[] = "btn?fr"; /* 0x08 to 0x0d; 0x0b has none */

    *p++ = '\\';
    if (c == '"' || c == '\\') {
        *p++ = (char)c;
    } else if (c >= 0x08 && c <= 0x0d && c != 0x0b) {
        *p++ = letters[c - 0x08];
    } else {
        p = ST_PUT_LIT(p, "u00");
        *p++ = hex[c >> 4];
        *p++ = hex[c & 15];
    }
    return p;
}

/* One character that is not plain ASCII; returns how many bytes of s it took. */
static size_t put_odd(char **p, const unsigned char *s, size_t n, bool *exact)
{
    size_t len = st_utf8_len(s, n);

    if (len == 0) {
        *exact = false;
        *p = ST_PUT_LIT(*p, "\xef\xbf\xbd");
        return 1;
    }
    *p = len == 1 ? put_escape(*p, *s) : st_put(*p, (const char *)s, len);
    return len;
}

char *st_put_string(char *p, struct st_str s, bool *exact)
{
    const unsigned char *in = (const unsigned char *)s.p;
    size_t n = s.len;

    *p++ = '"';
    while (n) {
        uint64_t eight;
        size_t took = 1;

        if (n >= 8) {
            memcpy(&eight, in, 8);
            if (!st_put_special(eight)) {
                memcpy(p, &eight, 8);
                p += 8;
                in += 8;
                n -= 8;
                continue;
            }
        }
        if (*in >= 0x20 && *in < 0x80 && *in != '"' && *in != '\\')
            *p++ = (char)*in;
        else
            took = put_odd(&p, in, n, exact);
        in += took;
        n -= took;
    }
    *p++ = '"';
    return p;
}
