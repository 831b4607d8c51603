/* trie: see trie.h. */
#include "policy/trie.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_CAP 64
#define K1 0x9e3779b97f4a7c15ull
#define K2 0xd6e8feb86659fd93ull

/* Both halves of the product folded into one: every bit of the input reaches every bit of the result. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 u128;
    u128 product = (u128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

void st_trie_init(struct trie *t)
{
    *t = (struct trie){.cap = FIRST_CAP, .n = 1, .mask = 2 * FIRST_CAP - 1};
    if (getrandom(&t->seed, sizeof(t->seed), 0) != (ssize_t)sizeof(t->seed))
        abort(); /* the kernel always has as much as this once it has booted */
    t->nodes = st_xcalloc(t->cap, sizeof(*t->nodes));
    t->table = st_xcalloc(t->mask + 1, sizeof(*t->table));
}

void st_trie_free(struct trie *t)
{
    free(t->nodes);
    free(t->table);
    *t = (struct trie){0};
}

uint64_t st_trie_hash(const struct trie *t, unsigned kind, const char *label, size_t len)
{
    uint64_t h = t->seed ^ (kind * K1) ^ len, word;

    for (; len >= 8; label += 8, len -= 8) {
        memcpy(&word, label, 8);
        h = mix(h ^ word, K1);
    }
    word = 0;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)(unsigned char)label[i] << (8 * i);
    return mix(h ^ word, K2);
}

static inline uint64_t edge_hash(uint32_t parent, uint64_t label_hash)
{
    return mix(label_hash ^ (parent * K1), K2);
}

uint32_t st_trie_find(const struct trie *t, uint32_t parent, unsigned kind, const char *label, size_t len,
                      uint64_t hash)
{
    uint64_t h = edge_hash(parent, hash);
    uint32_t tag = (uint32_t)(h >> 32);

    for (uint32_t at = (uint32_t)h & t->mask; t->table[at].child; at = (at + 1) & t->mask) {
        const struct trie_node *node;

        if (t->table[at].tag != tag)
            continue;
        node = &t->nodes[t->table[at].child];
        if (node->parent == parent && node->kind == kind && node->len == len &&
            memcmp(node->label, label, len) == 0)
            return t->table[at].child;
    }
    return TRIE_NONE;
}

static void place(struct trie *t, uint32_t child)
{
    const struct trie_node *node = &t->nodes[child];
    uint64_t h = edge_hash(node->parent, st_trie_hash(t, node->kind, node->label, node->len));
    uint32_t at = (uint32_t)h & t->mask;

    while (t->table[at].child)
        at = (at + 1) & t->mask;
    t->table[at] = (struct trie_edge){.child = child, .tag = (uint32_t)(h >> 32)};
}

static void grow(struct trie *t)
{
    if (t->cap > UINT32_MAX / 4)
        abort(); /* the number of rules and patterns is bounded far below */
    t->cap *= 2;
    t->nodes = st_xrealloc(t->nodes, t->cap * sizeof(*t->nodes));
    free(t->table);
    t->mask = 2 * t->cap - 1;
    t->table = st_xcalloc(t->mask + (size_t)1, sizeof(*t->table));
    for (uint32_t i = 1; i < t->n; i++)
        place(t, i);
}

uint32_t st_trie_add(struct trie *t, uint32_t parent, unsigned kind, const char *label, size_t len)
{
    uint32_t found = st_trie_find(t, parent, kind, label, len, st_trie_hash(t, kind, label, len));

    if (found)
        return found;
    if (t->n == t->cap)
        grow(t);
    t->nodes[t->n] = (struct trie_node){.label = label, .len = (uint32_t)len, .parent = parent, .kind = kind};
    place(t, t->n);
    return t->n++;
}
