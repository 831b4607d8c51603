/* netmatch: see netmatch.h. */
#include "policy/netmatch.h"

#include "policy/addrtree.h"
#include "policy/refs.h"
#include "policy/trie.h"

#include <string.h>

/* What may end at a node of the tree of labels. */
struct host_node {
    struct ref_list exact;
    struct ref_list one;  /* `*.` before it */
    struct ref_list more; /* `**.` before it */
};

struct netmatch {
    struct trie labels;
    struct host_node *hosts;
    uint32_t cap;
    struct addrtree four, six;
    struct ref_list any;
    struct refs refs;
};

static struct host_node *host_node(struct netmatch *m, uint32_t node)
{
    if (node >= m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 32;

        while (cap <= node)
            cap *= 2;
        m->hosts = st_xrealloc(m->hosts, cap * sizeof(*m->hosts));
        memset(m->hosts + m->cap, 0, (cap - m->cap) * sizeof(*m->hosts));
        m->cap = cap;
    }
    return &m->hosts[node];
}

struct netmatch *st_netmatch_new(void)
{
    struct netmatch *m = st_xcalloc(1, sizeof(*m));

    st_trie_init(&m->labels);
    host_node(m, TRIE_ROOT);
    st_addrtree_init(&m->four);
    st_addrtree_init(&m->six);
    return m;
}

void st_netmatch_free(struct netmatch *m)
{
    if (!m)
        return;
    st_trie_free(&m->labels);
    st_addrtree_free(&m->four);
    st_addrtree_free(&m->six);
    refs_free(&m->refs);
    free(m->hosts);
    free(m);
}

/* The label that ends at end; *start gets where it begins. */
static size_t label_before(const char *host, size_t end, size_t *start)
{
    size_t at = end;

    while (at > 0 && host[at - 1] != '.')
        at--;
    *start = at;
    return end - at;
}

void st_netmatch_add_host(struct netmatch *m, const char *host, struct net_ref ref)
{
    size_t stars = strspn(host, "*"), start, end;
    uint32_t node = TRIE_ROOT;
    struct host_node *h;

    host += stars;
    if (stars && *host == '.')
        host++;
    for (end = strlen(host); end > 0; end = start ? start - 1 : 0) {
        size_t len = label_before(host, end, &start);

        node = st_trie_add(&m->labels, node, 0, host + start, len);
    }
    h = host_node(m, node);
    refs_add(&m->refs,
             stars == 0   ? &h->exact
             : stars == 1 ? &h->one
                          : &h->more,
             ref.rule, ref.dest, ref.plain);
}

void st_netmatch_add_prefix(struct netmatch *m, const struct st_addr *addr, unsigned bits, struct net_ref ref)
{
    struct addrtree *tree = addr->family == 4 ? &m->four : &m->six;

    refs_add(&m->refs, st_addrtree_add(tree, addr, bits), ref.rule, ref.dest, ref.plain);
}

void st_netmatch_add_any(struct netmatch *m, struct net_ref ref)
{
    refs_add(&m->refs, &m->any, ref.rule, ref.dest, ref.plain);
}

void st_netmatch_finish(struct netmatch *m)
{
    st_addrtree_finish(&m->four);
    st_addrtree_finish(&m->six);
}

static void visit(const struct netmatch *m, uint32_t first, st_netmatch_hit *hit, void *ctx)
{
    for (uint32_t i = first; i; i = m->refs.items[i].next) {
        const struct ref *ref = &m->refs.items[i];

        if (!hit(ctx, (struct net_ref){ref->rule, ref->dest, ref->plain}))
            return;
    }
}

void st_netmatch_host(const struct netmatch *m, const char *host, size_t len, st_netmatch_hit *hit, void *ctx)
{
    uint32_t node = TRIE_ROOT;
    size_t start, end;

    for (end = len; end > 0; end = start ? start - 1 : 0) {
        size_t n = label_before(host, end, &start);
        uint64_t hash = st_trie_hash(&m->labels, 0, host + start, n);

        visit(m, m->hosts[node].more.first, hit, ctx); /* at least this label is left */
        if (start == 0)
            visit(m, m->hosts[node].one.first, hit, ctx); /* and it is the only one */
        node = st_trie_find(&m->labels, node, 0, host + start, n, hash);
        if (!node)
            return;
    }
    if (node)
        visit(m, m->hosts[node].exact.first, hit, ctx);
}

void st_netmatch_addr(const struct netmatch *m, const struct st_addr *addr, st_netmatch_hit *hit, void *ctx)
{
    const struct addrtree *tree = addr->family == 4 ? &m->four : &m->six;

    if (!addr->family)
        return;
    for (uint32_t at = st_addrtree_find(tree, addr); at != ADDR_NONE; at = tree->nodes[at].up)
        visit(m, tree->nodes[at].first, hit, ctx);
}

void st_netmatch_any(const struct netmatch *m, st_netmatch_hit *hit, void *ctx)
{
    visit(m, m->any.first, hit, ctx);
}
