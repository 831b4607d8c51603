/* authority: see authority.h. */
#include "sensors/net/authority.h"

#include "sensors/net/wire_host.h"

/* Digits to the end, 1 to 65535. */
static bool read_port(const uint8_t *text, size_t n, uint16_t *port)
{
    uint32_t value = 0;

    if (n == 0 || n > 5)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    *port = (uint16_t)value;
    return value > 0 && value <= UINT16_MAX;
}

static bool read_host(const uint8_t *text, size_t n, struct st_authority *out)
{
    if (st_addr_parse((struct st_str){(const char *)text, n}, &out->addr))
        return true;
    out->host_len = st_wire_host(text, n, out->host);
    if (out->host_len == 0)
        return false;
    /* `127.0.0.1.` is no name either. */
    if (st_addr_parse((struct st_str){out->host, out->host_len}, &out->addr))
        out->host_len = 0;
    return true;
}

bool st_authority_read(const uint8_t *text, size_t n, struct st_authority *out)
{
    const uint8_t *end = text + n, *rest;
    bool bracket = n > 0 && text[0] == '[';

    *out = (struct st_authority){0};
    rest = n ? memchr(text, bracket ? ']' : ':', n) : NULL;
    if (bracket) {
        if (!rest || !memchr(text, ':', (size_t)(rest - text)) ||
            !read_host(text + 1, (size_t)(rest - text - 1), out))
            return false;
        rest++;
    } else {
        if (!rest)
            rest = end;
        if (!read_host(text, (size_t)(rest - text), out))
            return false;
    }
    if (rest == end)
        return true;
    return *rest == ':' && read_port(rest + 1, (size_t)(end - rest - 1), &out->port);
}

bool st_authority_same_host(const struct st_authority *a, const struct st_authority *b)
{
    if (a->addr.family || b->addr.family)
        return a->addr.family == b->addr.family && memcmp(a->addr.bytes, b->addr.bytes, 16) == 0;
    return a->host_len == b->host_len && memcmp(a->host, b->host, a->host_len) == 0;
}
