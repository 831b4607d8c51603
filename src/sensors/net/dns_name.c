/* dns_name: see dns_name.h. */
#include "sensors/net/dns_name.h"

#include <string.h>

#define HEADER 12
#define MAX_WIRE 255 /* lengths, bytes and the root's zero together */
#define MAX_JUMPS 32 /* a message full of pointers to pointers must not cost us more than its size */

static bool plain(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static void put_byte(struct st_dns_name *out, uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        c |= 32;
    if (plain(c)) {
        out->text[out->len++] = (char)c;
        return;
    }
    out->text[out->len++] = '\\';
    out->text[out->len++] = (char)('0' + c / 100);
    out->text[out->len++] = (char)('0' + c / 10 % 10);
    out->text[out->len++] = (char)('0' + c % 10);
}

static void put_label(struct st_dns_name *out, const uint8_t *bytes, size_t n)
{
    if (out->len)
        out->text[out->len++] = '.';
    for (size_t i = 0; i < n; i++)
        put_byte(out, bytes[i]);
}

/* Where reading goes on: pos in labels that began at `run`. */
struct walk {
    size_t pos, run, jumps;
};

static bool jump(const uint8_t *message, size_t n, struct walk *w)
{
    size_t target;

    if (n - w->pos < 2 || ++w->jumps > MAX_JUMPS)
        return false;
    target = (size_t)(message[w->pos] & 0x3f) << 8 | message[w->pos + 1];
    if (target < HEADER || target >= w->run)
        return false;
    w->pos = w->run = target;
    return true;
}

bool st_dns_name_read(const uint8_t *message, size_t n, size_t *at, enum st_dns_pointers pointers,
                      struct st_dns_name *out)
{
    struct walk w = {*at, *at, 0};
    size_t wire = 1, behind = 0;

    out->len = 0;
    for (;;) {
        uint8_t len;

        if (w.pos >= n)
            return false;
        len = message[w.pos];
        if (len == 0)
            break;
        if ((len & 0xc0) == 0xc0) {
            if (!behind)
                behind = w.pos + 2;
            if (pointers == ST_DNS_NO_POINTERS || !jump(message, n, &w))
                return false;
            continue;
        }
        wire += (size_t)len + 1;
        if (len & 0xc0 || len >= n - w.pos || wire > MAX_WIRE)
            return false;
        put_label(out, message + w.pos + 1, len);
        w.pos += (size_t)len + 1;
    }
    if (out->len == 0)
        out->text[out->len++] = '.';
    out->text[out->len] = '\0';
    *at = behind ? behind : w.pos + 1;
    return true;
}

bool st_dns_name_equal(const struct st_dns_name *a, const struct st_dns_name *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}
