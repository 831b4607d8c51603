/* dns_name: a name as it stands in a DNS message, as text that can't be forged: lower case, without the final
 * dot, and every byte that is not a letter, a digit, `-` or `_` as `\046` (RFC 1035, 5.1). Two names are the
 * same where their texts are; one with a backslash is the canonical name of no host (model/host.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 250 bytes in four labels, each byte as four, and the dots. */
#define ST_DNS_NAME_SIZE 1004

struct st_dns_name {
    size_t len;
    char text[ST_DNS_NAME_SIZE]; /* NUL-terminated; the root is "." */
};

enum st_dns_pointers { ST_DNS_NO_POINTERS, ST_DNS_POINTERS };

/* The name at *at of the message; *at moves behind it. A pointer must lead back, before the labels that it
 * follows, so that there is no circle. false: it is no name, and *out and *at are of no use. */
bool st_dns_name_read(const uint8_t *message, size_t n, size_t *at, enum st_dns_pointers pointers,
                      struct st_dns_name *out);

bool st_dns_name_equal(const struct st_dns_name *a, const struct st_dns_name *b);
