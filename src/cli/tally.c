/* tally: see tally.h. */
#include "cli/tally.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void st_tally_init(struct st_tally *t, size_t limit)
{
    *t = (struct st_tally){.key = st_hash_key_random(), .limit = limit, .n_slots = 64};
    t->slots = st_xcalloc(t->n_slots, sizeof(*t->slots));
}

void st_tally_free(struct st_tally *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->items[i].key);
    free(t->items);
    free(t->slots);
    *t = (struct st_tally){0};
}

void st_tally_sum(uint64_t *total, uint64_t more)
{
    if (__builtin_add_overflow(*total, more, total))
        *total = UINT64_MAX;
}

static uint32_t *find_slot(const struct st_tally *t, const char *key, size_t len)
{
    size_t at = (size_t)st_keyed_hash(&t->key, key, len) & (t->n_slots - 1);

    while (t->slots[at]) {
        const char *other = t->items[t->slots[at] - 1].key;

        if (strlen(other) == len && memcmp(other, key, len) == 0)
            break;
        at = (at + 1) & (t->n_slots - 1);
    }
    return &t->slots[at];
}

static void grow(struct st_tally *t)
{
    free(t->slots);
    t->n_slots *= 2;
    t->slots = st_xcalloc(t->n_slots, sizeof(*t->slots));
    t->items = st_xrealloc(t->items, t->n_slots / 2 * sizeof(*t->items));
    for (size_t i = 0; i < t->n; i++)
        *find_slot(t, t->items[i].key, strlen(t->items[i].key)) = (uint32_t)i + 1;
}

struct st_tally_item *st_tally_add(struct st_tally *t, const char *key, size_t len, uint64_t count)
{
    uint32_t *slot = find_slot(t, key, len);

    if (!*slot) {
        if (t->n == t->limit) {
            st_tally_sum(&t->others, count);
            return NULL;
        }
        if (!t->items || t->n == t->n_slots / 2) {
            grow(t);
            slot = find_slot(t, key, len);
        }
        t->items[t->n] = (struct st_tally_item){.key = st_xstrndup(key, len)};
        *slot = (uint32_t)++t->n;
    }
    st_tally_sum(&t->items[*slot - 1].count, count);
    return &t->items[*slot - 1];
}

static int compare(const void *a, const void *b)
{
    const struct st_tally_item *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->key, y->key);
}

void st_tally_sort(struct st_tally *t)
{
    if (t->n)
        qsort(t->items, t->n, sizeof(*t->items), compare);
}
