/* pathwalk: one path through the tree. See pathmatch.h for why it can't explode. */
#include "policy/pathtree.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define INLINE_PLACES 24
#define INLINE_WORDS 4

/* A list of nodes that lives on the stack unless a policy is unusual. */
struct places {
    uint32_t *items, n, cap;
    uint32_t room[INLINE_PLACES];
};

struct walk {
    const struct pathmatch *m;
    struct places lists[2];
    struct places *now, *next; /* places before and after the component at hand */
    struct places deep;        /* `**` nodes reached so far: they go along to the end of the path */
    uint64_t *seen;            /* which of them */
    uint64_t seen_room[INLINE_WORDS];
    uint32_t limit; /* a rule from here on can't change the result */
    unsigned access;
    uint32_t *first;
    pathmatch_hit *hit; /* NULL: only the first rule is wanted */
    void *ctx;
};

static void places_init(struct places *p)
{
    p->items = p->room;
    p->n = 0;
    p->cap = INLINE_PLACES;
}

static void places_free(struct places *p)
{
    if (p->items != p->room)
        free(p->items);
}

static void places_add(struct places *p, uint32_t node)
{
    if (p->n == p->cap) {
        uint32_t *more = st_xmalloc(2 * (size_t)p->cap * sizeof(*more));

        memcpy(more, p->items, p->n * sizeof(*more));
        places_free(p);
        p->items = more;
        p->cap *= 2;
    }
    p->items[p->n++] = node;
}

static void update_limit(struct walk *w)
{
    w->limit = 0;
    for (unsigned bit = 0; bit < ACCESS_BITS; bit++)
        if (w->access & (1u << bit) && w->first[bit] > w->limit)
            w->limit = w->first[bit];
}

/* Patterns that end at this node match. */
static void reach(struct walk *w, const struct path_node *node)
{
    const struct end *ends = w->m->ends + node->ends;

    if (w->hit) {
        for (uint32_t i = 0; i < node->n_ends; i++)
            w->hit(w->ctx, ends[i].rule, ends[i].access);
        return;
    }
    for (uint32_t i = 0; i < node->n_live; i++)
        for (unsigned bit = 0; bit < ACCESS_BITS; bit++)
            if (ends[i].access & w->access & (1u << bit) && ends[i].rule < w->first[bit])
                w->first[bit] = ends[i].rule;
    if (node->n_live)
        update_limit(w);
}

static bool first_time(struct walk *w, uint32_t ordinal)
{
    uint64_t bit = (uint64_t)1 << (ordinal % 64), *word = &w->seen[ordinal / 64];
    bool first = !(*word & bit);

    *word |= bit;
    return first;
}

/* The components so far have led to this node; at_end: there are no more. */
static void arrive(struct walk *w, uint32_t at, bool at_end)
{
    const struct path_node *node = &w->m->nodes[at], *deep;

    if (node->least >= w->limit)
        return;
    if (at_end)
        reach(w, node);
    if (node->deep) {
        deep = &w->m->nodes[node->deep];
        if (deep->least < w->limit) {
            reach(w, deep); /* `**` takes whatever is left, also nothing */
            if (deep->has_children && !at_end && first_time(w, deep->ordinal))
                places_add(&w->deep, node->deep);
        }
    }
    if (node->has_children && !at_end)
        places_add(w->next, at);
}

static void step_globs(struct walk *w, uint32_t from, const struct affix *affix, const char *name, size_t len,
                       bool at_end)
{
    const struct trie *trie = &w->m->trie;
    const char *bytes = affix->kind == EDGE_PREFIX ? name : name + len - affix->len;
    uint64_t hash = st_trie_hash(trie, affix->kind, bytes, affix->len);
    uint32_t bucket = st_trie_find(trie, from, affix->kind, bytes, affix->len, hash);

    if (!bucket)
        return;
    for (uint32_t glob = w->m->nodes[bucket].first_glob; glob; glob = w->m->nodes[glob].next_glob)
        if (w->m->nodes[glob].least < w->limit &&
            st_glob_component(trie->nodes[glob].label, trie->nodes[glob].len, name, len))
            arrive(w, glob, at_end);
}

static void step(struct walk *w, uint32_t from, const char *name, size_t len, uint64_t hash, bool at_end)
{
    const struct trie *trie = &w->m->trie;
    const struct path_node *node = &w->m->nodes[from];
    uint32_t to;

    if (node->least >= w->limit)
        return;
    to = st_trie_find(trie, from, EDGE_NAME, name, len, hash);
    if (to)
        arrive(w, to, at_end);
    for (const struct affix *affix = node->affixes; affix; affix = affix->next)
        if (affix->len <= len)
            step_globs(w, from, affix, name, len, at_end);
}

static void component(struct walk *w, const char *name, size_t len, bool at_end)
{
    uint64_t hash = st_trie_hash(&w->m->trie, EDGE_NAME, name, len);
    struct places *done = w->now;
    uint32_t n_deep = w->deep.n; /* those found at this component begin with the next */

    w->now = w->next;
    w->next = done;
    w->next->n = 0;
    for (uint32_t i = 0; i < w->now->n; i++)
        step(w, w->now->items[i], name, len, hash, at_end);
    for (uint32_t i = 0; i < n_deep; i++)
        step(w, w->deep.items[i], name, len, hash, at_end);
}

static void walk(struct walk *w, const char *path, size_t len)
{
    const char *s = path, *end = path + len;
    size_t words = (w->m->n_deep + 63) / 64;

    places_init(&w->lists[0]);
    places_init(&w->lists[1]);
    w->now = &w->lists[0];
    w->next = &w->lists[1];
    places_init(&w->deep);
    w->seen = words <= INLINE_WORDS ? w->seen_room : st_xcalloc(words, sizeof(*w->seen));
    if (words <= INLINE_WORDS)
        memset(w->seen_room, 0, sizeof(w->seen_room));
    arrive(w, TRIE_ROOT, len <= 1);
    while (s + 1 < end) {
        const char *name = s + 1, *slash = memchr(name, '/', (size_t)(end - name));

        s = slash ? slash : end;
        component(w, name, (size_t)(s - name), s == end);
    }
    places_free(&w->lists[0]);
    places_free(&w->lists[1]);
    places_free(&w->deep);
    if (w->seen != w->seen_room)
        free(w->seen);
}

void st_pathmatch_first(const struct pathmatch *m, const char *path, size_t len, unsigned access,
                        uint32_t first[ACCESS_BITS])
{
    struct walk w;

    for (unsigned bit = 0; bit < ACCESS_BITS; bit++)
        first[bit] = NO_RULE;
    w.m = m;
    w.access = access;
    w.first = first;
    w.hit = NULL;
    w.limit = NO_RULE;
    walk(&w, path, len);
}

void st_pathmatch_all(const struct pathmatch *m, const char *path, size_t len, pathmatch_hit *hit, void *ctx)
{
    struct walk w;

    if (!hit)
        return;
    w.m = m;
    w.hit = hit;
    w.ctx = ctx;
    w.limit = NO_RULE;
    walk(&w, path, len);
}
