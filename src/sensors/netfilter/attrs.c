#include "sensors/netfilter/attrs.h"

#include "base/idle.h"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netlink.h>
#include <string.h>

ST_IDLE_CODE static size_t aligned(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* Length of the message that begins there; 0: it is not whole. */
ST_IDLE_CODE static size_t length_of(const void *message, size_t n)
{
    struct nlmsghdr h;

    if (n < sizeof(h))
        return 0;
    memcpy(&h, message, sizeof(h));
    return h.nlmsg_len >= sizeof(h) && h.nlmsg_len <= n ? h.nlmsg_len : 0;
}

ST_IDLE_CODE const struct nlmsghdr *st_nlmsg_next(const void *received, size_t n, size_t *at)
{
    const char *message = (const char *)received + *at;
    size_t len = *at < n ? length_of(message, n - *at) : 0;

    *at += aligned(len);
    return len ? (const void *)message : NULL;
}

static bool walk(const char *p, size_t n, struct st_attrs *out)
{
    struct nlattr attr;

    *out = (struct st_attrs){0};
    while (n >= sizeof(attr)) {
        memcpy(&attr, p, sizeof(attr));
        if (attr.nla_len < sizeof(attr) || attr.nla_len > n)
            return false;
        if ((attr.nla_type & NLA_TYPE_MASK) < ST_ATTRS)
            out->of[attr.nla_type & NLA_TYPE_MASK] = (const void *)p;
        if (aligned(attr.nla_len) >= n)
            break;
        p += aligned(attr.nla_len);
        n -= aligned(attr.nla_len);
    }
    return true;
}

bool st_attrs_read(const struct nlmsghdr *h, size_t n, size_t header, struct st_attrs *out)
{
    size_t len = length_of(h, n), before = sizeof(*h) + aligned(header);

    return len >= before && walk((const char *)h + before, len - before, out);
}

const void *st_attrs_bytes(const struct st_attrs *a, unsigned type, size_t least, size_t *len)
{
    const char *at = (const void *)a->of[type];
    struct nlattr attr;

    if (!at)
        return NULL;
    memcpy(&attr, at, sizeof(attr));
    if (attr.nla_len - sizeof(attr) < least)
        return NULL;
    if (len)
        *len = attr.nla_len - sizeof(attr);
    return at + sizeof(attr);
}

uint32_t st_attrs_be32(const struct st_attrs *a, unsigned type)
{
    const void *bytes = st_attrs_bytes(a, type, sizeof(uint32_t), NULL);
    uint32_t value = 0;

    if (bytes)
        memcpy(&value, bytes, sizeof(value));
    return ntohl(value);
}

uint64_t st_attrs_be64(const struct st_attrs *a, unsigned type, uint64_t otherwise)
{
    const void *bytes = st_attrs_bytes(a, type, sizeof(uint64_t), NULL);
    uint64_t value;

    if (!bytes)
        return otherwise;
    memcpy(&value, bytes, sizeof(value));
    return be64toh(value);
}

int32_t st_attrs_s32(const struct st_attrs *a, unsigned type, int32_t otherwise)
{
    const void *bytes = st_attrs_bytes(a, type, sizeof(int32_t), NULL);

    if (bytes)
        memcpy(&otherwise, bytes, sizeof(otherwise));
    return otherwise;
}

uint8_t st_attrs_u8(const struct st_attrs *a, unsigned type)
{
    const uint8_t *byte = st_attrs_bytes(a, type, 1, NULL);

    return byte ? *byte : 0;
}

uint16_t st_attrs_be16(const struct st_attrs *a, unsigned type)
{
    const uint8_t *bytes = st_attrs_bytes(a, type, 2, NULL);

    return bytes ? (uint16_t)(bytes[0] << 8 | bytes[1]) : 0;
}

bool st_attrs_nested(const struct st_attrs *a, unsigned type, struct st_attrs *out)
{
    size_t n = 0;
    const char *within = st_attrs_bytes(a, type, 0, &n);

    *out = (struct st_attrs){0};
    return within && walk(within, n, out);
}
