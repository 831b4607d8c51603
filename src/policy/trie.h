/* trie: a tree whose edges are runs of bytes, all edges in one hash table. Private to src/policy.
 *
 * Paths go through it component by component, names of hosts label by label from the right, names of
 * syscalls in one step. Looking up an edge costs the same whatever the number of edges. The hash is seeded
 * anew for each tree, so that nobody can choose bytes that all fall into one place. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TRIE_ROOT 0u
#define TRIE_NONE 0u /* the root is nobody's child */

struct trie_node {
    const char *label; /* borrowed: must outlive the tree */
    uint32_t len;
    uint32_t parent;
    uint32_t kind; /* edges of different kinds from one node do not meet */
};

struct trie_edge {
    uint32_t child; /* TRIE_NONE: free */
    uint32_t tag;
};

struct trie {
    struct trie_node *nodes;
    struct trie_edge *table;
    uint32_t n, cap, mask;
    uint64_t seed;
};

void st_trie_init(struct trie *t);
void st_trie_free(struct trie *t);

/* The child, made where it is not there yet. */
uint32_t st_trie_add(struct trie *t, uint32_t parent, unsigned kind, const char *label, size_t len);

/* The label's hash is computed once and used from many nodes. */
uint64_t st_trie_hash(const struct trie *t, unsigned kind, const char *label, size_t len);
uint32_t st_trie_find(const struct trie *t, uint32_t parent, unsigned kind, const char *label, size_t len,
                      uint64_t hash);
