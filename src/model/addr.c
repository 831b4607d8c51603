/* addr: see addr.h. */
#include "model/addr.h"

#include <arpa/inet.h>
#include <stdio.h>

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct st_addr st_addr_from4(const uint8_t bytes[4])
{
    struct st_addr a = {.family = 4};

    memcpy(a.bytes, bytes, 4);
    return a;
}

struct st_addr st_addr_from6(const uint8_t bytes[16])
{
    struct st_addr a = {.family = 6};

    if (memcmp(bytes, mapped_prefix, sizeof(mapped_prefix)) == 0)
        return st_addr_from4(bytes + 12);
    memcpy(a.bytes, bytes, 16);
    return a;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* One part of an IPv4 address as inet_aton reads it: decimal, 0 octal, 0x hexadecimal. */
static bool parse_part(const char **at, const char *end, uint64_t *out)
{
    const char *s = *at;
    int base = 10;
    uint64_t n = 0;

    if (s < end && *s == '0') {
        base = 8;
        if (end - s > 1 && (s[1] == 'x' || s[1] == 'X')) {
            base = 16;
            s += 2;
        }
    }
    if (s == end || digit_value(*s) >= base)
        return false;
    for (; s < end && digit_value(*s) < base; s++) {
        n = n * (unsigned)base + (unsigned)digit_value(*s);
        if (n > UINT32_MAX)
            return false;
    }
    *at = s;
    *out = n;
    return true;
}

/* All spellings of inet_aton: the last part fills the bytes that are left. */
static bool parse4(struct st_str text, struct st_addr *out)
{
    const char *s = text.p, *end = text.p + text.len;
    uint64_t parts[4], value = 0;
    unsigned n = 0;

    for (;;) {
        if (!parse_part(&s, end, &parts[n++]))
            return false;
        if (s == end)
            break;
        if (*s++ != '.' || n == 4)
            return false;
    }
    for (unsigned i = 0; i + 1 < n; i++) {
        if (parts[i] > 255)
            return false;
        value |= parts[i] << (24 - 8 * i);
    }
    if (parts[n - 1] >> (8 * (5 - n)))
        return false;
    value |= parts[n - 1];
    *out = (struct st_addr){
        .family = 4,
        .bytes = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value}};
    return true;
}

static bool parse6(struct st_str text, uint8_t bytes[16])
{
    char copy[INET6_ADDRSTRLEN + 1];

    if (text.len >= sizeof(copy) || !memchr(text.p, ':', text.len) || memchr(text.p, '\0', text.len))
        return false;
    memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    return inet_pton(AF_INET6, copy, bytes) == 1;
}

bool st_addr_parse(struct st_str text, struct st_addr *out)
{
    uint8_t bytes[16];

    if (!text.p || text.len == 0)
        return false;
    if (parse6(text, bytes)) {
        *out = st_addr_from6(bytes);
        return true;
    }
    return parse4(text, out);
}

static bool parse_bits(struct st_str text, unsigned *bits)
{
    *bits = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || text.len > 3)
            return false;
        *bits = *bits * 10 + (unsigned)(text.p[i] - '0');
    }
    return text.len > 0;
}

enum st_cidr_fault st_cidr_parse(struct st_str text, struct st_addr *out, unsigned *bits)
{
    const char *slash = text.p ? memchr(text.p, '/', text.len) : NULL;
    struct st_str addr = {text.p, slash ? (size_t)(slash - text.p) : text.len};
    uint8_t bytes[16];
    bool six;

    if (!st_addr_parse(addr, out))
        return ST_CIDR_NO_ADDRESS;
    six = parse6(addr, bytes);
    if (!slash) {
        *bits = out->family == 4 ? 32 : 128;
        return ST_CIDR_OK;
    }
    if (!parse_bits((struct st_str){slash + 1, text.len - addr.len - 1}, bits))
        return ST_CIDR_NO_PREFIX;
    if (*bits > (six ? 128 : 32))
        return ST_CIDR_RANGE;
    if (six && out->family == 4) {
        if (*bits < 96) { /* wider than the mapped addresses: it is an IPv6 prefix after all */
            *out = (struct st_addr){.family = 6};
            memcpy(out->bytes, bytes, 16);
        } else {
            *bits -= 96;
        }
    }
    return ST_CIDR_OK;
}

bool st_addr_mask(struct st_addr *addr, unsigned bits)
{
    bool cleared = false;

    for (unsigned i = 0; i < (addr->family == 4 ? 4u : 16u); i++) {
        unsigned keep = bits >= 8 * (i + 1) ? 8 : bits <= 8 * i ? 0 : bits - 8 * i;
        uint8_t mask = (uint8_t)(0xff00u >> keep);

        cleared |= (addr->bytes[i] & (uint8_t)~mask) != 0;
        addr->bytes[i] &= mask;
    }
    return cleared;
}

/* By hand: it is in every record, and libc goes through printf. */
static void format4(const uint8_t bytes[4], char *out)
{
    for (int i = 0; i < 4; i++) {
        unsigned n = bytes[i];

        if (n >= 100)
            *out++ = (char)('0' + n / 100);
        if (n >= 10)
            *out++ = (char)('0' + n / 10 % 10);
        *out++ = (char)('0' + n % 10);
        *out++ = i < 3 ? '.' : '\0';
    }
}

void st_addr_format(const struct st_addr *addr, char out[ST_ADDR_TEXT_SIZE])
{
    out[0] = '\0';
    if (addr->family == 4)
        format4(addr->bytes, out);
    else if (addr->family)
        inet_ntop(AF_INET6, addr->bytes, out, ST_ADDR_TEXT_SIZE);
}
