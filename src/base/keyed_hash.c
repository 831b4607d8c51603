/* keyed_hash: see keyed_hash.h. */
#include "base/keyed_hash.h"

#include <stdlib.h>
#include <sys/random.h>

struct st_hash_key st_hash_key_random(void)
{
    struct st_hash_key key;

    if (getrandom(&key, sizeof(key), 0) != (ssize_t)sizeof(key))
        abort(); /* the kernel always has as much as this once it has booted */
    return key;
}

static inline uint64_t turn(uint64_t v, unsigned by)
{
    return v << by | v >> (64 - by);
}

static inline void rounds(uint64_t v[4], unsigned n)
{
    while (n--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = turn(v[1], 13) ^ v[0];
        v[3] = turn(v[3], 16) ^ v[2];
        v[0] = turn(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = turn(v[1], 17) ^ v[2];
        v[3] = turn(v[3], 21) ^ v[0];
        v[2] = turn(v[2], 32);
    }
}

/* Up to eight bytes, the first the lowest. */
static inline uint64_t word_of(const uint8_t *p, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)p[i] << (8 * i);
    return word;
}

static inline void take_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

uint64_t st_keyed_hash(const struct st_hash_key *key, const void *bytes, size_t n)
{
    uint64_t v[4] = {key->k0 ^ 0x736f6d6570736575u, key->k1 ^ 0x646f72616e646f6du,
                     key->k0 ^ 0x6c7967656e657261u, key->k1 ^ 0x7465646279746573u};
    const uint8_t *p = n ? bytes : (const uint8_t *)""; /* nothing may be nowhere */
    size_t whole = n / 8;

    for (size_t i = 0; i < whole; i++)
        take_word(v, word_of(p + 8 * i, 8));
    take_word(v, (uint64_t)n << 56 | word_of(p + 8 * whole, n % 8));
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
