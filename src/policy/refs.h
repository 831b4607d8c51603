/* refs: lists of (rule, destination) hung onto the nodes of a tree, in the order in which they were added.
 * Private to src/policy. */
#pragma once

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct ref {
    uint32_t rule, dest, next;
    bool plain; /* nothing but the name or address is to be looked at */
};

struct ref_list {
    uint32_t first, last; /* 0: none */
};

struct refs {
    struct ref *items; /* [0] is not used */
    uint32_t n, cap;
};

static inline void refs_add(struct refs *refs, struct ref_list *list, uint32_t rule, uint32_t dest,
                            bool plain)
{
    if (refs->n + 1 >= refs->cap) {
        refs->cap = refs->cap ? refs->cap * 2 : 32;
        refs->items = st_xrealloc(refs->items, refs->cap * sizeof(*refs->items));
    }
    refs->items[++refs->n] = (struct ref){.rule = rule, .dest = dest, .plain = plain};
    if (list->last)
        refs->items[list->last].next = refs->n;
    else
        list->first = refs->n;
    list->last = refs->n;
}

static inline void refs_free(struct refs *refs)
{
    free(refs->items);
    *refs = (struct refs){0};
}
