/* addrtree: see addrtree.h. */
#include "policy/addrtree.h"

#include <string.h>

struct bits128 {
    uint64_t high, low;
};

static uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t n = 0;

    for (int i = 0; i < 8; i++)
        n = n << 8 | bytes[i];
    return n;
}

static struct bits128 key_of(const struct st_addr *addr)
{
    if (addr->family == 4)
        return (struct bits128){(uint64_t)addr->bytes[0] << 56 | (uint64_t)addr->bytes[1] << 48 |
                                    (uint64_t)addr->bytes[2] << 40 | (uint64_t)addr->bytes[3] << 32,
                                0};
    return (struct bits128){big_endian(addr->bytes), big_endian(addr->bytes + 8)};
}

/* The first n bits. */
static struct bits128 cut(struct bits128 key, unsigned n)
{
    key.high = n == 0 ? 0 : n >= 64 ? key.high : key.high & ~(UINT64_MAX >> n);
    key.low = n <= 64 ? 0 : n >= 128 ? key.low : key.low & ~(UINT64_MAX >> (n - 64));
    return key;
}

static unsigned bit_at(struct bits128 key, unsigned n)
{
    return (unsigned)((n < 64 ? key.high : key.low) >> (63 - n % 64) & 1);
}

/* How many leading bits are the same, at most max. */
static unsigned common(struct bits128 a, struct bits128 b, unsigned max)
{
    uint64_t high = a.high ^ b.high, low = a.low ^ b.low;
    unsigned n = high ? (unsigned)__builtin_clzll(high) : low ? 64 + (unsigned)__builtin_clzll(low) : 128;

    return n < max ? n : max;
}

static uint32_t new_node(struct addrtree *t, struct bits128 key, unsigned bits)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 16;
        t->nodes = st_xrealloc(t->nodes, t->cap * sizeof(*t->nodes));
        t->lists = st_xrealloc(t->lists, t->cap * sizeof(*t->lists));
    }
    key = cut(key, bits);
    t->nodes[t->n] = (struct addr_node){.high = key.high, .low = key.low, .bits = bits & 255};
    t->lists[t->n] = (struct ref_list){0, 0};
    return t->n++;
}

void st_addrtree_init(struct addrtree *t)
{
    *t = (struct addrtree){0};
    new_node(t, (struct bits128){0, 0}, 0);
}

void st_addrtree_free(struct addrtree *t)
{
    free(t->nodes);
    free(t->lists);
    free(t->index);
    *t = (struct addrtree){0};
}

static struct bits128 key_of_node(const struct addr_node *node)
{
    return (struct bits128){node->high, node->low};
}

struct ref_list *st_addrtree_add(struct addrtree *t, const struct st_addr *addr, unsigned bits)
{
    struct bits128 key = cut(key_of(addr), bits);
    uint32_t at = 0;

    for (;;) {
        unsigned shared, side;
        uint32_t next, fork, leaf;

        if (t->nodes[at].bits == bits)
            return &t->lists[at];
        side = bit_at(key, t->nodes[at].bits);
        next = t->nodes[at].below[side];
        if (!next) {
            leaf = new_node(t, key, bits);
            t->nodes[at].below[side] = leaf;
            return &t->lists[leaf];
        }
        shared = common(key, key_of_node(&t->nodes[next]),
                        bits < t->nodes[next].bits ? bits : t->nodes[next].bits);
        if (shared == t->nodes[next].bits) {
            at = next;
            continue;
        }
        /* They part before the next node: a fork between, which may be the prefix itself. */
        fork = new_node(t, key, shared);
        t->nodes[fork].below[bit_at(key_of_node(&t->nodes[next]), shared)] = next;
        t->nodes[at].below[side] = fork;
        at = fork;
    }
}

/* ---- made ready ---- */

#define INDEX_BITS 16
#define INDEX_FROM 512 /* nodes: a smaller tree is as quick without */

/* All keys that begin with this node's bits begin their search here, unless a longer one says otherwise:
 * parents come before their children. */
static void put_into_index(struct addrtree *t, uint32_t at)
{
    const struct addr_node *node = &t->nodes[at];
    uint32_t first = (uint32_t)(node->high >> (64 - INDEX_BITS)), n = 1u << (INDEX_BITS - node->bits);

    for (uint32_t i = 0; i < n; i++)
        t->index[first + i] = at;
}

void st_addrtree_finish(struct addrtree *t)
{
    uint32_t stack[130], depth = 0; /* one a bit at most, and its sibling */

    for (uint32_t i = 0; i < t->n; i++) {
        if (t->lists[i].first >= 1u << 24)
            abort(); /* a policy has far fewer values in all */
        t->nodes[i].first = t->lists[i].first & 0xffffff;
    }
    free(t->lists);
    t->lists = NULL;
    if (t->n >= INDEX_FROM)
        t->index = st_xcalloc(1u << INDEX_BITS, sizeof(*t->index));
    t->nodes[0].up = ADDR_NONE;
    stack[depth++] = 0;
    while (depth) {
        uint32_t at = stack[--depth];

        if (t->index && t->nodes[at].bits <= INDEX_BITS)
            put_into_index(t, at);
        for (int side = 0; side < 2; side++) {
            uint32_t child = t->nodes[at].below[side];

            if (!child)
                continue;
            t->nodes[child].up = t->nodes[at].first ? at : t->nodes[at].up;
            stack[depth++] = child;
        }
    }
}

uint32_t st_addrtree_find(const struct addrtree *t, const struct st_addr *addr)
{
    struct bits128 key = key_of(addr);
    unsigned full = addr->family == 4 ? 32 : 128;
    uint32_t at = t->index ? t->index[key.high >> (64 - INDEX_BITS)] : 0, deepest = at;

    for (;;) {
        const struct addr_node *node = &t->nodes[at];

        if (common(key, key_of_node(node), node->bits) < node->bits)
            break;
        deepest = at;
        at = node->bits < full ? node->below[bit_at(key, node->bits)] : 0;
        if (!at)
            break;
    }
    return t->nodes[deepest].first ? deepest : t->nodes[deepest].up;
}
