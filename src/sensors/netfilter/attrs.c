#include "sensors/netfilter/attrs.h"

#include <arpa/inet.h>
#include <endian.h>
#include <libmnl/libmnl.h>
#include <string.h>

static int keep(const struct nlattr *attr, void *data)
{
    struct st_attrs *attrs = data;

    if (mnl_attr_get_type(attr) < ST_ATTRS)
        attrs->of[mnl_attr_get_type(attr)] = attr;
    return MNL_CB_OK;
}

bool st_attrs_read(const struct nlmsghdr *h, size_t n, size_t header, struct st_attrs *out)
{
    *out = (struct st_attrs){0};
    return n <= INT32_MAX && mnl_nlmsg_ok(h, (int)n) && mnl_nlmsg_get_payload_len(h) >= header &&
           mnl_attr_parse(h, (unsigned)header, keep, out) >= 0;
}

const void *st_attrs_bytes(const struct st_attrs *a, unsigned type, size_t least, size_t *len)
{
    const struct nlattr *attr = a->of[type];

    if (!attr || mnl_attr_get_payload_len(attr) < least)
        return NULL;
    if (len)
        *len = mnl_attr_get_payload_len(attr);
    return mnl_attr_get_payload(attr);
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
    *out = (struct st_attrs){0};
    return a->of[type] && mnl_attr_parse_nested(a->of[type], keep, out) >= 0;
}
