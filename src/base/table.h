/* table: things found by a hash, in the order in which they came or were last touched. Each thing holds its
 * own link; the table owns nothing but its buckets, which grow with what is in it and are none while it is
 * empty. Every operation costs the same however many there are.
 *
 * The hash must be keyed (keyed_hash.h) where others choose the keys. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct st_table_link {
    struct st_table_link *next, **at; /* in its bucket */
    struct st_table_link *older, *newer;
    uint64_t hash;
};

/* All zero: empty. */
struct st_table {
    size_t n, n_buckets; /* n_buckets: a power of two, or 0 */
    struct st_table_link **buckets;
    struct st_table_link *oldest, *newest;
};

/* The thing of type that holds this link (not NULL) as its member. */
#define st_table_entry(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* The first of those with this hash, the one added last before others; then the next one. Equal hashes need
 * not mean equal keys. NULL: no more. */
struct st_table_link *st_table_find(const struct st_table *t, uint64_t hash);
struct st_table_link *st_table_find_next(const struct st_table_link *link);

/* As the newest. */
void st_table_add(struct st_table *t, struct st_table_link *link, uint64_t hash);
void st_table_touch(struct st_table *t, struct st_table_link *link);
void st_table_remove(struct st_table *t, struct st_table_link *link);
