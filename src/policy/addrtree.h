/* addrtree: prefixes of addresses in a tree of bits in which chains of single children are skipped. Private
 * to src/policy. One tree a family. */
#pragma once

#include "model/addr.h"
#include "policy/refs.h"

struct addr_node {
    uint64_t high, low;  /* the prefix, bits beyond it zero; IPv4 in the top 32 bits */
    uint32_t below[2];   /* 0: none */
    uint32_t up;         /* the nearest shorter prefix that somebody has, or ADDR_NONE */
    uint32_t first : 24; /* of the list of those who have it, once finished; 0: the node is only a fork */
    uint32_t bits : 8;
};

_Static_assert(sizeof(struct addr_node) == 32, "two in a line of the cache");

#define ADDR_NONE UINT32_MAX

struct addrtree {
    struct addr_node *nodes; /* [0] is the prefix of no bits */
    struct ref_list *lists;  /* of each node, until it is finished */
    uint32_t *index;         /* by the first 16 bits: where to begin; NULL in a small tree */
    uint32_t n, cap;
};

void st_addrtree_init(struct addrtree *t);
void st_addrtree_free(struct addrtree *t);

/* The list of this prefix, made where it is not there yet; valid until the next call. */
struct ref_list *st_addrtree_add(struct addrtree *t, const struct st_addr *addr, unsigned bits);

/* After the last add, before the first find. */
void st_addrtree_finish(struct addrtree *t);

/* The longest prefix that holds the address and that somebody has; ADDR_NONE: none. The shorter ones follow
 * by `up`. */
uint32_t st_addrtree_find(const struct addrtree *t, const struct st_addr *addr);
