/* attrs: messages of netlink in what was received, and the attributes of each, by number. By our own hand:
 * libmnl takes a length of 2 GB and more for a negative one, and reads to the next multiple of four. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlmsghdr;
struct nlattr;

/* The next whole message of n bytes that were received, from *at on, which moves behind it. NULL: no more. */
const struct nlmsghdr *st_nlmsg_next(const void *received, size_t n, size_t *at);

#define ST_ATTRS 64 /* of those beyond nothing is known */

struct st_attrs {
    const struct nlattr *of[ST_ATTRS];
};

/* Those behind a header of so many bytes. Borrows the message, n bytes of which are there; false: it is
 * shorter than it says, or than its header, or an attribute is not what it should be. */
bool st_attrs_read(const struct nlmsghdr *h, size_t n, size_t header, struct st_attrs *out);

/* The bytes of one, at least so many; NULL: it is not there, or shorter. len may be NULL. */
const void *st_attrs_bytes(const struct st_attrs *a, unsigned type, size_t least, size_t *len);

/* As the network has it; 0 where it is not there. */
uint32_t st_attrs_be32(const struct st_attrs *a, unsigned type);

uint64_t st_attrs_be64(const struct st_attrs *a, unsigned type, uint64_t otherwise);

/* As the machine has it. */
int32_t st_attrs_s32(const struct st_attrs *a, unsigned type, int32_t otherwise);

/* One byte, one short of the network; 0 where it is not there. */
uint8_t st_attrs_u8(const struct st_attrs *a, unsigned type);
uint16_t st_attrs_be16(const struct st_attrs *a, unsigned type);

/* The attributes within one; false: it is not there. */
bool st_attrs_nested(const struct st_attrs *a, unsigned type, struct st_attrs *out);
