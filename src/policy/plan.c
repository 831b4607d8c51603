/* plan: what of a policy can be put into place ahead, without asking for each event. */
#include "policy/snapshot.h"

#include "base/mem.h"
#include "policy/pattern.h"

#include <stdlib.h>
#include <string.h>

#define CHANGES (ST_ACCESS_WRITE | ST_ACCESS_CREATE | ST_ACCESS_DELETE)

/* The longest path that all matches of a pattern have in common: the components before the first wildcard. */
static const char *literal_prefix(struct st_arena *arena, const struct path_pattern *pattern)
{
    st_auto_buf path = ST_BUF_INIT;

    for (size_t i = 0; i < pattern->n && pattern->parts[i].kind == PART_LITERAL; i++) {
        st_buf_addc(&path, '/');
        st_buf_add(&path, pattern->parts[i].bytes, pattern->parts[i].len);
    }
    return path.len ? st_arena_strndup(arena, path.data, path.len) : "/";
}

static bool is_within(const char *path, const char *tree)
{
    size_t n = strcmp(tree, "/") == 0 ? 0 : strlen(tree);

    return strncmp(path, tree, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Room doubles whenever a power of two is full. */
static void add_tree(struct st_policy *p, const char *path)
{
    size_t n = p->n_writable;

    if ((n & (n - 1)) == 0)
        p->writable = st_xrealloc(p->writable, (n ? 2 * n : 1) * sizeof(*p->writable));
    p->writable[p->n_writable++] = path;
}

static void add_rule_trees(struct st_policy *p, const struct st_rule *rule, struct st_arena *scratch)
{
    for (size_t i = 0; i < rule->n_paths; i++) {
        struct path_patterns parsed;
        struct pattern_fault fault;

        if (!st_path_pattern_parse(scratch, rule->paths[i], &parsed, &fault))
            abort();
        for (size_t v = 0; v < parsed.n; v++)
            add_tree(p, literal_prefix(&p->arena, &parsed.variants[v]));
        st_arena_clear(scratch);
    }
}

/* A slash sorts before everything else, so that what lies within a tree follows right behind it. */
static int by_path(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;

    while (*x && *x == *y)
        x++, y++;
    return (*x == '/' ? 1 : (unsigned char)*x + 2 * (*x != 0)) -
           (*y == '/' ? 1 : (unsigned char)*y + 2 * (*y != 0));
}

static void drop_nested(struct st_policy *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n_writable; i++)
        if (kept == 0 || !is_within(p->writable[i], p->writable[kept - 1]))
            p->writable[kept++] = p->writable[i];
    p->n_writable = kept;
}

void st_policy_plan(struct st_policy *p)
{
    struct st_arena scratch = {0};

    if (p->settings.defaults.fs_write == ST_ALLOW) {
        add_tree(p, "/");
        return;
    }
    for (size_t i = 0; i < p->n_rules + p->settings.n_scope; i++) {
        const struct st_rule *rule = &p->rules[i];

        if (rule->type == ST_RULE_FILESYSTEM && rule->action == ST_ALLOW && rule->access & CHANGES)
            add_rule_trees(p, rule, &scratch);
    }
    if (p->n_writable)
        qsort(p->writable, p->n_writable, sizeof(*p->writable), by_path);
    drop_nested(p);
    st_arena_free(&scratch);
}

size_t st_policy_writable(const struct st_policy *policy, const char *const **trees)
{
    *trees = policy->writable;
    return policy->n_writable;
}
