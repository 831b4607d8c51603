/* addr: network addresses as addresses, never as text. The one place that turns text into an address and
 * back.
 *
 * `1.2.3.4`, `0x01020304`, `16909060`, `1.2.772` and `::ffff:1.2.3.4` are one address: what a program may
 * hand to connect() in many spellings has one value here, and IPv4 is never kept in its IPv6-mapped form. */
#pragma once

#include "model/str.h"

#include <stdbool.h>
#include <stdint.h>

struct st_addr {
    uint8_t family; /* 0: none, 4, 6 */
    uint8_t bytes[16];
};

#define ST_ADDR_TEXT_SIZE 48

static inline bool st_addr_equal(const struct st_addr *a, const struct st_addr *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* Any form that libc's own functions take; a zone (`%eth0`) and brackets are refused. */
bool st_addr_parse(struct st_str text, struct st_addr *out);

/* `10.0.0.0/8`, `2001:db8::/32`; without a slash the prefix is the whole address. An IPv6-mapped prefix of
 * at least 96 bits becomes the IPv4 prefix that it is. *bits is in the terms of out->family. */
enum st_cidr_fault { ST_CIDR_OK, ST_CIDR_NO_ADDRESS, ST_CIDR_NO_PREFIX, ST_CIDR_RANGE };
enum st_cidr_fault st_cidr_parse(struct st_str text, struct st_addr *out, unsigned *bits);

/* Clears what lies beyond the prefix. Returns whether there was anything to clear. */
bool st_addr_mask(struct st_addr *addr, unsigned bits);

/* Shortest usual form; "" for none. */
void st_addr_format(const struct st_addr *addr, char out[ST_ADDR_TEXT_SIZE]);

/* From 16 bytes as the kernel has them; mapped forms become IPv4. */
struct st_addr st_addr_from6(const uint8_t bytes[16]);
struct st_addr st_addr_from4(const uint8_t bytes[4]);
