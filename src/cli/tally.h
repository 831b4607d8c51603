/* tally: how often each of many things occurred, in bounded memory: beyond the limit new things are counted
 * as "others". */
#pragma once

#include "base/keyed_hash.h"

#include <stddef.h>
#include <stdint.h>

struct st_tally_item {
    char *key;
    uint64_t count;   /* occurrences */
    uint64_t refused; /* of them */
    unsigned rank;    /* the owner's: higher ones come first */
    uint64_t a, b;    /* what the owner adds up: bytes sent and received … */
};

struct st_tally {
    struct st_hash_key key; /* things have names that a container chose */
    struct st_tally_item *items;
    uint32_t *slots; /* index + 1 of an item; 0: free */
    size_t n, n_slots, limit;
    uint64_t others; /* occurrences that found no room */
};

void st_tally_init(struct st_tally *t, size_t limit);
void st_tally_free(struct st_tally *t);

/* Counts `count` of key. NULL: among the others. */
struct st_tally_item *st_tally_add(struct st_tally *t, const char *key, size_t len, uint64_t count);

/* Adds, and stops at the highest number there is: a trace may claim any count. */
void st_tally_sum(uint64_t *total, uint64_t more);

/* By rank, then the most frequent first; those of equal count by key. Nothing may be added afterwards. */
void st_tally_sort(struct st_tally *t);
