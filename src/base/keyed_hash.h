/* keyed_hash: SipHash-2-4 with a key of our own making: who does not know it can't choose keys that fall into
 * one bucket of a table. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct st_hash_key {
    uint64_t k0, k1;
};

struct st_hash_key st_hash_key_random(void);

/* bytes may be NULL where there are none. */
uint64_t st_keyed_hash(const struct st_hash_key *key, const void *bytes, size_t n);
