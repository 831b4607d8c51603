/* The compiled matchers against slow and obvious ones, on random tables: the first rule that matches is the
 * same, and so is the set of all that match. The sequence is the same in every run. */
#include "base/arena.h"
#include "base/mem.h"
#include "policy/netmatch.h"
#include "policy/pathmatch.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    uint64_t z = *state;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static unsigned below(uint64_t *state, unsigned n)
{
    return (unsigned)(next_random(state) % n);
}

/* ---- paths ---- */

/* A pattern as text against a path as text, by trying everything. `**` is a whole component here. */
static bool slow_component(const char *p, size_t np, const char *s, size_t ns)
{
    if (np == 0)
        return ns == 0;
    if (*p == '*')
        return slow_component(p + 1, np - 1, s, ns) || (ns && slow_component(p, np, s + 1, ns - 1));
    return ns && (*p == '?' || *p == *s) && slow_component(p + 1, np - 1, s + 1, ns - 1);
}

static bool slow_path(const char *pattern, const char *path)
{
    size_t np, ns;

    if (!*pattern)
        return !*path;
    np = strcspn(pattern + 1, "/");
    if (np == 2 && strncmp(pattern, "/**", 3) == 0) {
        if (slow_path(pattern + 3, path))
            return true;
        if (!*path)
            return false;
        return slow_path(pattern, path + 1 + strcspn(path + 1, "/"));
    }
    if (!*path)
        return false;
    ns = strcspn(path + 1, "/");
    return slow_component(pattern + 1, np, path + 1, ns) && slow_path(pattern + 1 + np, path + 1 + ns);
}

static void random_component(uint64_t *rng, char *out, bool pattern)
{
    unsigned n = 1 + below(rng, 4);

    for (unsigned i = 0; i < n; i++) {
        unsigned c = below(rng, pattern ? 6 : 3);

        *out++ = c < 3 ? (char)('a' + c) : c == 3 ? '?' : c == 4 ? '*' : 'a';
        if (c == 4 && i + 1 < n) /* never two stars in a row */
            *out++ = 'b';
    }
    *out = '\0';
}

static void random_path(uint64_t *rng, char *out, bool pattern)
{
    unsigned n = 1 + below(rng, 5), deep = 0;

    for (unsigned i = 0; i < n; i++) {
        char name[16];

        if (pattern && deep < 3 && below(rng, 4) == 0) {
            snprintf(name, sizeof(name), "**");
            deep++;
        } else {
            random_component(rng, name, pattern && below(rng, 2));
        }
        out += snprintf(out, 16, "/%s", name);
    }
}

#define MAX_RULES 60

struct table {
    char patterns[MAX_RULES][128];
    unsigned access[MAX_RULES];
    unsigned n;
};

struct hits {
    unsigned access[MAX_RULES];
};

static void on_hit(void *ctx, uint32_t rule, unsigned access)
{
    ((struct hits *)ctx)->access[rule] |= access;
}

static void compare_path(const struct pathmatch *m, const struct table *t, const char *path)
{
    uint32_t first[ACCESS_BITS];
    struct hits hits = {0};

    st_pathmatch_first(m, path, strlen(path), ST_ACCESS_ALL, first);
    st_pathmatch_all(m, path, strlen(path), on_hit, &hits);
    for (unsigned bit = 0; bit < ACCESS_BITS; bit++) {
        uint32_t expected = NO_RULE, one[ACCESS_BITS];

        for (unsigned i = t->n; i-- > 0;)
            if (t->access[i] & (1u << bit) && slow_path(t->patterns[i], path))
                expected = i;
        if (first[bit] != expected)
            fail_msg("%s, bit %u: rule %u, not %u (%s)", path, bit, first[bit], expected,
                     expected == NO_RULE ? "none" : t->patterns[expected]);
        st_pathmatch_first(m, path, strlen(path), 1u << bit, one);
        assert_int_equal(one[bit], expected);
    }
    for (unsigned i = 0; i < t->n; i++)
        assert_int_equal(hits.access[i], slow_path(t->patterns[i], path) ? t->access[i] : 0);
}

static void paths_are_matched_as_by_trying_everything(void **state)
{
    uint64_t rng = 1;

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct pathmatch *m = st_pathmatch_new();
        struct st_arena arena = {0};
        struct table t = {.n = 1 + below(&rng, MAX_RULES)};

        for (unsigned i = 0; i < t.n; i++) {
            struct path_patterns parsed;
            struct pattern_fault fault;

            random_path(&rng, t.patterns[i], true);
            t.access[i] = 1 + below(&rng, ST_ACCESS_ALL);
            if (!st_path_pattern_parse(&arena, t.patterns[i], &parsed, &fault))
                fail_msg("%s: %s", t.patterns[i], fault.what);
            for (size_t v = 0; v < parsed.n; v++)
                st_pathmatch_add(m, &parsed.variants[v], i, t.access[i]);
        }
        st_pathmatch_finish(m);
        for (int i = 0; i < 40; i++) {
            char path[128];

            random_path(&rng, path, false);
            compare_path(m, &t, path);
        }
        st_pathmatch_free(m);
        st_arena_free(&arena);
    }
}

/* ---- addresses ---- */

struct found {
    uint64_t rules; /* a bit each */
};

static bool on_dest(void *ctx, struct net_ref ref)
{
    ((struct found *)ctx)->rules |= (uint64_t)1 << ref.rule;
    return true;
}

static struct st_addr random_addr(uint64_t *rng, unsigned family)
{
    struct st_addr a = {.family = (uint8_t)family};

    for (unsigned i = 0; i < (family == 4 ? 4u : 16u); i++)
        a.bytes[i] = (uint8_t)(below(rng, 4) ? below(rng, 2) * 0x80 : below(rng, 256));
    return a;
}

static void addresses_are_matched_as_by_trying_everything(void **state)
{
    uint64_t rng = 2;

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct netmatch *m = st_netmatch_new();
        struct st_addr prefixes[MAX_RULES];
        unsigned bits[MAX_RULES], n = 1 + below(&rng, MAX_RULES);

        for (unsigned i = 0; i < n; i++) {
            prefixes[i] = random_addr(&rng, below(&rng, 2) ? 4 : 6);
            bits[i] = below(&rng, prefixes[i].family == 4 ? 33 : 129);
            st_addr_mask(&prefixes[i], bits[i]);
            st_netmatch_add_prefix(m, &prefixes[i], bits[i], (struct net_ref){i, 0, true});
        }
        st_netmatch_finish(m);
        for (int i = 0; i < 100; i++) {
            struct st_addr addr = random_addr(&rng, below(&rng, 2) ? 4 : 6);
            struct found found = {0};
            uint64_t expected = 0;

            if (below(&rng, 2)) { /* near one of them */
                unsigned near = below(&rng, n);

                addr = prefixes[near];
                addr.bytes[below(&rng, addr.family == 4 ? 4 : 16)] ^= (uint8_t)(1u << below(&rng, 8));
            }
            for (unsigned r = 0; r < n; r++) {
                struct st_addr masked = addr;

                st_addr_mask(&masked, bits[r]);
                if (addr.family == prefixes[r].family && memcmp(masked.bytes, prefixes[r].bytes, 16) == 0)
                    expected |= (uint64_t)1 << r;
            }
            st_netmatch_addr(m, &addr, on_dest, &found);
            assert_true(found.rules == expected);
        }
        st_netmatch_free(m);
    }
}

struct lowest {
    uint32_t rule;
};

static bool on_lowest(void *ctx, struct net_ref ref)
{
    struct lowest *l = ctx;

    l->rule = ref.rule < l->rule ? ref.rule : l->rule;
    return true;
}

/* Large enough for the index by the first bits. */
static void a_large_tree_of_addresses_is_no_different(void **state)
{
    enum { N = 3000 };
    struct st_addr *prefixes = st_xcalloc(N, sizeof(*prefixes));
    struct netmatch *m = st_netmatch_new();
    unsigned bits[N];
    uint64_t rng = 4;

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        prefixes[i].family = i % 2 ? 4 : 6;
        for (unsigned b = 0; b < 4; b++)
            prefixes[i].bytes[b] = (uint8_t)below(&rng, b ? 256 : 8);
        bits[i] = 1 + below(&rng, 32);
        st_addr_mask(&prefixes[i], bits[i]);
        st_netmatch_add_prefix(m, &prefixes[i], bits[i], (struct net_ref){i, 0, true});
    }
    st_netmatch_finish(m);
    for (unsigned i = 0; i < 3000; i++) {
        struct st_addr addr = prefixes[below(&rng, N)];
        struct lowest found = {UINT32_MAX}, expected = {UINT32_MAX};

        addr.bytes[below(&rng, 4)] ^= (uint8_t)below(&rng, 256);
        for (unsigned r = N; r-- > 0;) {
            struct st_addr masked = addr;

            st_addr_mask(&masked, bits[r]);
            if (addr.family == prefixes[r].family && memcmp(masked.bytes, prefixes[r].bytes, 16) == 0)
                expected.rule = r;
        }
        st_netmatch_addr(m, &addr, on_lowest, &found);
        assert_int_equal(found.rule, expected.rule);
    }
    st_netmatch_free(m);
    free(prefixes);
}

/* ---- names ---- */

static bool slow_host(const char *pattern, const char *host)
{
    size_t stars = strspn(pattern, "*"), np, nh = strlen(host);
    const char *rest = pattern + stars;

    if (stars == 0)
        return strcmp(pattern, host) == 0;
    np = strlen(rest); /* ".x" */
    if (np == 0)
        return nh > 0;
    if (nh <= np || strcmp(host + nh - np, rest) != 0)
        return false;
    return stars == 2 || !memchr(host, '.', nh - np);
}

static void random_host(uint64_t *rng, char *out, bool pattern)
{
    unsigned n = 1 + below(rng, 4), stars = pattern ? below(rng, 3) : 0;

    out += snprintf(out, 8, "%.*s%s", (int)stars, "**", stars ? "." : "");
    for (unsigned i = 0; i < n; i++)
        out += snprintf(out, 8, "%s%c", i ? "." : "", 'a' + (int)below(rng, 2));
}

static void names_are_matched_as_by_trying_everything(void **state)
{
    uint64_t rng = 3;

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct netmatch *m = st_netmatch_new();
        char patterns[MAX_RULES][32];
        unsigned n = 1 + below(&rng, MAX_RULES);

        for (unsigned i = 0; i < n; i++) {
            random_host(&rng, patterns[i], true);
            st_netmatch_add_host(m, patterns[i], (struct net_ref){i, 0, true});
        }
        st_netmatch_finish(m);
        for (int i = 0; i < 50; i++) {
            struct found found = {0};
            uint64_t expected = 0;
            char host[32];

            random_host(&rng, host, false);
            for (unsigned r = 0; r < n; r++)
                if (slow_host(patterns[r], host))
                    expected |= (uint64_t)1 << r;
            st_netmatch_host(m, host, strlen(host), on_dest, &found);
            if (found.rules != expected)
                fail_msg("%s", host);
        }
        st_netmatch_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_matched_as_by_trying_everything),
        cmocka_unit_test(addresses_are_matched_as_by_trying_everything),
        cmocka_unit_test(a_large_tree_of_addresses_is_no_different),
        cmocka_unit_test(names_are_matched_as_by_trying_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
