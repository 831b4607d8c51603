/* pathmatch: see pathmatch.h. This file builds the tree; pathwalk.c walks it. */
#include "policy/pathmatch.h"

#include "base/mem.h"
#include "policy/pathtree.h"

#include <stdlib.h>
#include <string.h>

void st_pathmatch_free(struct pathmatch *m)
{
    if (!m)
        return;
    st_trie_free(&m->trie);
    st_arena_free(&m->arena);
    free(m->nodes);
    free(m->ends);
    free(m);
}

/* The node, with its entry beside the tree's own. */
static uint32_t child(struct pathmatch *m, uint32_t parent, unsigned kind, const char *label, size_t len)
{
    uint32_t node = st_trie_add(&m->trie, parent, kind, label, len);

    if (node >= m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 64;

        while (cap <= node)
            cap *= 2;
        m->nodes = st_xrealloc(m->nodes, cap * sizeof(*m->nodes));
        memset(m->nodes + m->cap, 0, (cap - m->cap) * sizeof(*m->nodes));
        m->cap = cap;
    }
    return node;
}

struct pathmatch *st_pathmatch_new(void)
{
    struct pathmatch *m = st_xcalloc(1, sizeof(*m));

    st_trie_init(&m->trie);
    m->cap_ends = 64;
    m->ends = st_xcalloc(m->cap_ends, sizeof(*m->ends));
    child(m, TRIE_ROOT, EDGE_DEEP, "", 0); /* makes room for the root's own entry too */
    return m;
}

/* Remember that from this node names are to be looked up by their first or last `len` bytes. */
static void note_length(struct pathmatch *m, uint32_t node, unsigned kind, size_t len)
{
    struct affix *affix;

    for (affix = m->nodes[node].affixes; affix; affix = affix->next)
        if (affix->kind == kind && affix->len == len)
            return;
    affix = st_arena_alloc(&m->arena, sizeof(*affix));
    *affix = (struct affix){.next = m->nodes[node].affixes, .len = (uint32_t)len, .kind = kind};
    m->nodes[node].affixes = affix;
}

static bool is_wild(char c)
{
    return c == GLOB_STAR || c == GLOB_ONE;
}

/* A glob hangs behind the literal bytes with which it begins, else those with which it ends. */
static uint32_t glob_child(struct pathmatch *m, uint32_t node, const struct path_part *part)
{
    size_t front = 0, back = 0;
    uint32_t bucket, made, before;
    unsigned kind;

    while (front < part->len && !is_wild(part->bytes[front]))
        front++;
    while (front == 0 && back < part->len && !is_wild(part->bytes[part->len - 1 - back]))
        back++;
    kind = back ? EDGE_SUFFIX : EDGE_PREFIX;
    bucket = child(m, node, kind, back ? part->bytes + part->len - back : part->bytes, back ? back : front);
    note_length(m, node, kind, back ? back : front);
    before = m->trie.n;
    made = child(m, bucket, EDGE_GLOB, part->bytes, part->len);
    if (made >= before) {
        m->nodes[made].next_glob = m->nodes[bucket].first_glob;
        m->nodes[bucket].first_glob = made;
    }
    m->nodes[node].has_children = true;
    return made;
}

static uint32_t descend(struct pathmatch *m, uint32_t node, const struct path_part *part)
{
    uint32_t next;

    switch (part->kind) {
    case PART_DEEP:
        next = child(m, node, EDGE_DEEP, "", 0);
        m->nodes[node].deep = next;
        return next;
    case PART_GLOB: return glob_child(m, node, part);
    case PART_LITERAL: break;
    }
    next = child(m, node, EDGE_NAME, part->bytes, part->len);
    m->nodes[node].has_children = true;
    return next;
}

void st_pathmatch_add(struct pathmatch *m, const struct path_pattern *pattern, uint32_t rule, unsigned access)
{
    uint32_t node = TRIE_ROOT;

    for (size_t i = 0; i < pattern->n; i++)
        node = descend(m, node, &pattern->parts[i]);
    if (m->n_ends == m->cap_ends) {
        m->cap_ends *= 2;
        m->ends = st_xrealloc(m->ends, m->cap_ends * sizeof(*m->ends));
    }
    m->ends[m->n_ends++] = (struct end){.node = node, .rule = rule, .access = access};
}

static int by_node_and_rule(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->rule < y->rule ? -1 : x->rule > y->rule;
}

/* At one node an end whose accesses have all been taken by ends before it can never be first: it goes
 * behind those that can, of which there are at most as many as there are kinds of access. */
static void put_winners_first(struct pathmatch *m, struct path_node *node)
{
    struct end *ends = m->ends + node->ends;
    unsigned taken = 0;
    uint32_t live = 0;

    for (uint32_t i = 0; i < node->n_ends && taken != ST_ACCESS_ALL; i++) {
        struct end e = ends[i];

        if ((e.access & ~taken) == 0)
            continue;
        taken |= e.access;
        memmove(ends + live + 1, ends + live, (i - live) * sizeof(*ends));
        ends[live++] = e;
    }
    node->n_live = live;
}

void st_pathmatch_finish(struct pathmatch *m)
{
    if (m->n_ends)
        qsort(m->ends, m->n_ends, sizeof(*m->ends), by_node_and_rule);
    for (uint32_t i = 0; i < m->trie.n; i++)
        m->nodes[i].least = NO_RULE;
    for (uint32_t i = 0; i < m->n_ends; i++) {
        struct path_node *node = &m->nodes[m->ends[i].node];

        if (node->n_ends++ == 0) {
            node->ends = i;
            node->least = m->ends[i].rule;
        }
    }
    for (uint32_t i = m->trie.n; i-- > 0;) { /* children were made after their parents */
        struct path_node *node = &m->nodes[i], *parent = &m->nodes[m->trie.nodes[i].parent];

        put_winners_first(m, node);
        if (i && node->least < parent->least)
            parent->least = node->least;
        if (i && m->trie.nodes[i].kind == EDGE_DEEP && node->has_children)
            node->ordinal = m->n_deep++;
    }
}
