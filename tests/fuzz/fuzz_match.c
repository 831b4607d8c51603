/* Patterns and what they are matched with, one a line, an empty line between: the compiled matchers must say
 * what a slow matcher says that fills a table of all prefixes (so that it can't explode either). Hosts and
 * addresses have one canonical form each. */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/path.h"
#include "model/addr.h"
#include "model/host.h"
#include "policy/netmatch.h"
#include "policy/pathmatch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 24
#define MAX_LINE 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* ---- paths ---- */

enum token { LITERAL, STAR, ONE, ANY, DEEP };

struct token_list {
    enum token kind[MAX_LINE];
    char byte[MAX_LINE];
    size_t n;
};

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* The pattern was accepted, so every escape is a right one. */
static void tokens_of(const char *p, struct token_list *t)
{
    t->n = 0;
    while (*p) {
        enum token kind = LITERAL;
        char byte = *p;
        size_t used = 1;

        if (strncmp(p, "/**", 3) == 0 && (p[3] == '/' || p[3] == '\0')) {
            kind = DEEP;
            used = 3;
        } else if (p[0] == '*' && p[1] == '*') {
            kind = ANY;
            used = 2;
        } else if (*p == '*') {
            kind = STAR;
        } else if (*p == '?') {
            kind = ONE;
        } else if (*p == '\\' && p[1] == 'x') {
            byte = (char)(nibble(p[2]) * 16 + nibble(p[3]));
            used = 4;
        } else if (*p == '\\') {
            byte = p[1];
            used = 2;
        }
        t->kind[t->n] = kind;
        t->byte[t->n++] = byte;
        p += used;
    }
}

/* reach[j]: the tokens so far can match the first j bytes. */
static bool slow_match(const struct token_list *t, const char *s, size_t n)
{
    bool reach[MAX_LINE + 1] = {true}, next[MAX_LINE + 1];

    for (size_t i = 0; i < t->n; i++) {
        memset(next, 0, sizeof(next));
        for (size_t j = 0; j <= n; j++) {
            if (!reach[j])
                continue;
            if (t->kind[i] == LITERAL && j < n && s[j] == t->byte[i])
                next[j + 1] = true;
            if (t->kind[i] == ONE && j < n && s[j] != '/')
                next[j + 1] = true;
            if (t->kind[i] == STAR)
                for (size_t k = j; k <= n && (next[k] = true) && k < n && s[k] != '/';)
                    k++;
            if (t->kind[i] == ANY)
                memset(next + j, 1, n - j + 1);
            if (t->kind[i] == DEEP) {
                next[j] = true;
                for (size_t k = j; j < n && s[j] == '/' && k <= n; k++)
                    next[k] = k == n || s[k] == '/' || next[k];
            }
        }
        memcpy(reach, next, sizeof(reach));
    }
    return reach[n];
}

static bool is_ascii(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s >= 0x80)
            return false;
    return true;
}

/* The root has no component: for the slow matcher it is the empty text, before the first slash. */
static const char *root_is_nothing(const char *path)
{
    return strcmp(path, "/") == 0 ? "" : path;
}

struct lines {
    char text[MAX_LINES][MAX_LINE];
    size_t n;
};

struct hit_ctx {
    bool hit[MAX_LINES];
};

static void on_path(void *ctx, uint32_t rule, unsigned access)
{
    (void)access;
    ((struct hit_ctx *)ctx)->hit[rule] = true;
}

static void check_path(const struct pathmatch *m, const struct lines *patterns, const bool *used,
                       const char *path)
{
    struct hit_ctx all = {0};
    uint32_t first[ACCESS_BITS];
    bool found = false;

    if (!st_path_is_normal(path, strlen(path)) || !is_ascii(path))
        return; /* `?` takes a character, the slow one a byte */
    st_pathmatch_all(m, path, strlen(path), on_path, &all);
    st_pathmatch_first(m, path, strlen(path), ST_ACCESS_WRITE, first);
    for (size_t i = 0; i < patterns->n; i++) {
        struct token_list t;

        if (!used[i])
            continue;
        tokens_of(root_is_nothing(patterns->text[i]), &t);
        demand(all.hit[i] == slow_match(&t, root_is_nothing(path), strlen(root_is_nothing(path))));
        if (all.hit[i] && !found)
            demand(first[1] == i);
        found |= all.hit[i];
    }
    demand(found || first[1] == NO_RULE);
}

static void check_paths(const struct lines *patterns, const struct lines *subjects)
{
    struct pathmatch *m = st_pathmatch_new();
    struct st_arena arena = {0};
    bool used[MAX_LINES] = {0};

    for (size_t i = 0; i < patterns->n; i++) {
        struct path_patterns parsed;
        struct pattern_fault fault;

        used[i] = st_path_pattern_parse(&arena, patterns->text[i], &parsed, &fault);
        for (size_t v = 0; used[i] && v < parsed.n; v++)
            st_pathmatch_add(m, &parsed.variants[v], (uint32_t)i, ST_ACCESS_ALL);
    }
    st_pathmatch_finish(m);
    for (size_t i = 0; i < subjects->n; i++)
        check_path(m, patterns, used, subjects->text[i]);
    st_pathmatch_free(m);
    st_arena_free(&arena);
}

/* ---- names ---- */

static bool slow_host(const char *pattern, const char *host)
{
    size_t stars = strspn(pattern, "*"), np = strlen(pattern + stars), nh = strlen(host);

    if (stars == 0)
        return strcmp(pattern, host) == 0;
    if (np == 0)
        return true;
    return nh > np && strcmp(host + nh - np, pattern + stars) == 0 &&
           (stars == 2 || !memchr(host, '.', nh - np));
}

static bool on_host(void *ctx, struct net_ref ref)
{
    ((struct hit_ctx *)ctx)->hit[ref.rule] = true;
    return true;
}

static void check_hosts(const struct lines *patterns, const struct lines *subjects)
{
    struct netmatch *m = st_netmatch_new();
    struct st_arena arena = {0};
    const char *hosts[MAX_LINES] = {0};

    for (size_t i = 0; i < patterns->n; i++) {
        struct pattern_fault fault;

        if (st_host_pattern_parse(&arena, patterns->text[i], &hosts[i], &fault))
            st_netmatch_add_host(m, hosts[i], (struct net_ref){(uint32_t)i, 0, true});
        else
            hosts[i] = NULL;
    }
    st_netmatch_finish(m);
    for (size_t s = 0; s < subjects->n; s++) {
        char host[ST_HOST_SIZE], again[ST_HOST_SIZE];
        size_t len = st_host_canonical(st_str(subjects->text[s]), host);
        struct hit_ctx all = {0};

        if (!len)
            continue;
        demand(st_host_canonical((struct st_str){host, len}, again) == len && memcmp(host, again, len) == 0);
        st_netmatch_host(m, host, len, on_host, &all);
        for (size_t i = 0; i < patterns->n; i++)
            demand(all.hit[i] == (hosts[i] && slow_host(hosts[i], host)));
    }
    st_netmatch_free(m);
    st_arena_free(&arena);
}

/* ---- addresses ---- */

static void check_addrs(const struct lines *prefixes, const struct lines *subjects)
{
    struct netmatch *m = st_netmatch_new();
    struct st_addr nets[MAX_LINES];
    unsigned bits[MAX_LINES];
    bool used[MAX_LINES] = {0};

    for (size_t i = 0; i < prefixes->n; i++) {
        used[i] = st_cidr_parse(st_str(prefixes->text[i]), &nets[i], &bits[i]) == ST_CIDR_OK;
        if (!used[i])
            continue;
        st_addr_mask(&nets[i], bits[i]);
        st_netmatch_add_prefix(m, &nets[i], bits[i], (struct net_ref){(uint32_t)i, 0, true});
    }
    st_netmatch_finish(m);
    for (size_t s = 0; s < subjects->n; s++) {
        struct st_addr addr, again;
        struct hit_ctx all = {0};
        char text[ST_ADDR_TEXT_SIZE];

        if (!st_addr_parse(st_str(subjects->text[s]), &addr))
            continue;
        st_addr_format(&addr, text);
        demand(st_addr_parse(st_str(text), &again) && memcmp(&addr, &again, sizeof(addr)) == 0);
        st_netmatch_addr(m, &addr, on_host, &all);
        for (size_t i = 0; i < prefixes->n; i++) {
            struct st_addr masked = addr;

            if (!used[i])
                continue;
            st_addr_mask(&masked, bits[i]);
            demand(all.hit[i] ==
                   (masked.family == nets[i].family && memcmp(masked.bytes, nets[i].bytes, 16) == 0));
        }
    }
    st_netmatch_free(m);
}

static const char *take_lines(const char *s, const char *end, struct lines *out)
{
    out->n = 0;
    while (s < end && *s != '\n') {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        size_t len = (size_t)((stop ? stop : end) - s);

        if (out->n < MAX_LINES && len < MAX_LINE && !memchr(s, '\0', len)) {
            memcpy(out->text[out->n], s, len);
            out->text[out->n++][len] = '\0';
        }
        s += len + (stop != NULL);
    }
    return s < end ? s + 1 : s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data, *end = s + size;
    struct lines patterns, subjects;

    s = take_lines(s, end, &patterns);
    take_lines(s, end, &subjects);
    check_paths(&patterns, &subjects);
    check_hosts(&patterns, &subjects);
    check_addrs(&patterns, &subjects);
    return 0;
}
