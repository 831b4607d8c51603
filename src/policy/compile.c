/* compile: from the table of rules to the matchers. Everything was checked when it was read. */
#include "policy/snapshot.h"

#include "base/mem.h"
#include "policy/fields.h"
#include "policy/pattern.h"

#include <stdlib.h>
#include <string.h>

#define SCOPE_ACCESS (ST_ACCESS_ALL & ~ST_ACCESS_EXEC)

/* The directories of the scope become rules behind all others. */
static void append_scope(struct st_policy *p)
{
    const struct settings *s = &p->settings;

    p->rules = st_xrealloc(p->rules, (p->n_rules + s->n_scope + 1) * sizeof(*p->rules));
    for (size_t i = 0; i < s->n_scope; i++) {
        const char **path = st_arena_alloc(&p->arena, sizeof(*path));
        size_t len = strlen(s->scope[i]);
        bool root = len == 1;
        char *pattern = st_arena_alloc(&p->arena, len + 4);

        memcpy(pattern, s->scope[i], len);
        memcpy(pattern + len - root, "/**", 4);
        *path = pattern;
        p->rules[p->n_rules + i] = (struct st_rule){.type = ST_RULE_FILESYSTEM,
                                                    .access = SCOPE_ACCESS,
                                                    .paths = path,
                                                    .n_paths = 1,
                                                    .at = s->scope_at};
    }
}

static void add_paths(struct st_policy *p, uint32_t index)
{
    const struct st_rule *rule = &p->rules[index];

    for (size_t i = 0; i < rule->n_paths; i++) {
        struct path_patterns parsed;
        struct pattern_fault fault;

        if (!st_path_pattern_parse(&p->arena, rule->paths[i], &parsed, &fault))
            abort(); /* the reader let it through */
        for (size_t v = 0; v < parsed.n; v++)
            st_pathmatch_add(p->paths, &parsed.variants[v], index, rule->access);
    }
}

static void add_programs(struct st_policy *p, uint32_t index)
{
    const struct st_rule *rule = &p->rules[index];

    add_paths(p, index);
    for (size_t i = 0; i < rule->n_hashes; i++)
        st_hashmatch_add(&p->hashes, rule->hashes[i], index, rule->action == ST_DENY);
}

static void add_dest(struct netmatch *m, const struct st_destination *d, uint32_t index, uint32_t at)
{
    struct net_ref ref = {index, at, d->n_ports == 0 && d->protocol == 0};

    if (d->host)
        st_netmatch_add_host(m, d->host, ref);
    else if (d->addr.family)
        st_netmatch_add_prefix(m, &d->addr, d->bits, ref);
    else
        st_netmatch_add_any(m, ref);
}

/* What a rule about connections says of looking up a name: a name that may be connected to may be looked up;
 * one that is refused on every port may not. Addresses say nothing of names, but for the prefix of all
 * addresses. */
static void add_dest_to_dns(struct st_policy *p, const struct st_destination *d, uint32_t index, uint32_t at)
{
    if (p->rules[index].action == ST_DENY && (d->n_ports || d->protocol))
        return;
    if (d->host)
        st_netmatch_add_host(p->dns, d->host, (struct net_ref){index, at, true});
    else if (!d->addr.family || d->bits == 0)
        st_netmatch_add_any(p->dns, (struct net_ref){index, at, true});
}

static void add_network(struct st_policy *p, uint32_t index)
{
    const struct st_rule *rule = &p->rules[index];
    bool egress = rule->type == ST_RULE_EGRESS;

    for (size_t i = 0; i < rule->n_dests; i++) {
        add_dest(egress ? p->egress : p->ingress, &rule->dests[i], index, (uint32_t)i);
        if (egress)
            add_dest_to_dns(p, &rule->dests[i], index, (uint32_t)i);
    }
    if (rule->n_dests == 0) { /* no list: all of them */
        st_netmatch_add_any(egress ? p->egress : p->ingress, (struct net_ref){index, UINT32_MAX, true});
        if (egress)
            st_netmatch_add_any(p->dns, (struct net_ref){index, UINT32_MAX, true});
    }
}

static void add_syscalls(struct st_policy *p, uint32_t index, uint32_t *cap)
{
    const struct st_rule *rule = &p->rules[index];

    for (size_t i = 0; i < rule->n_names; i++) {
        uint32_t node = st_trie_add(&p->syscalls, TRIE_ROOT, 0, rule->names[i], strlen(rule->names[i]));

        if (node >= *cap) {
            p->by_syscall = st_xrealloc(p->by_syscall, 2 * (node + 1) * sizeof(*p->by_syscall));
            memset(p->by_syscall + *cap, 0, (2 * (node + 1) - *cap) * sizeof(*p->by_syscall));
            *cap = 2 * (node + 1);
        }
        refs_add(&p->syscall_refs, &p->by_syscall[node], index, (uint32_t)i, true);
    }
}

/* Globs of paths are compiled one by one: such rules are few, and each looks at its own field. */
static void compile_condition(struct st_policy *p, struct st_condition *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct st_predicate *pred = &c->predicates[i];
        struct path_patterns parsed;
        struct pattern_fault fault;

        if (pred->paths || pred->op != ST_PRED_GLOB || !st_field_is_path(pred->field) ||
            pred->values[0][0] != '/')
            continue; /* not a path, or done for the policy that this one was settled from */
        if (!st_path_pattern_parse(&p->arena, pred->values[0], &parsed, &fault))
            abort();
        pred->paths = st_pathmatch_new();
        for (size_t v = 0; v < parsed.n; v++)
            st_pathmatch_add(pred->paths, &parsed.variants[v], 0, ST_ACCESS_ALL);
        st_pathmatch_finish(pred->paths);
    }
}

static void free_condition(struct st_condition *c)
{
    for (size_t i = 0; i < c->n; i++)
        st_pathmatch_free(c->predicates[i].paths);
}

static void add_generic(struct st_policy *p, uint32_t index)
{
    struct st_rule *rule = &p->rules[index];

    compile_condition(p, &rule->when);
    for (size_t i = 0; i < rule->sequence.n_steps; i++)
        compile_condition(p, &rule->sequence.steps[i]);
    p->generic[p->n_generic++] = index;
    if (rule->type == ST_RULE_THRESHOLD)
        rule->slot = p->n_thresholds++;
    else if (rule->type == ST_RULE_SEQUENCE)
        rule->slot = p->n_sequences++;
}

static struct st_str keep(struct st_policy *p, const struct st_buf *text)
{
    return (struct st_str){st_arena_strndup(&p->arena, st_buf_cstr(text), text->len), text->len};
}

static struct st_str reason_to_allow(struct st_policy *p, size_t index)
{
    const struct st_rule *rule = &p->rules[index];
    st_auto_buf text = ST_BUF_INIT;

    if (!rule->id)
        st_buf_addf(&text, "inside the scope %s", p->settings.scope[index - p->n_rules]);
    else
        st_buf_addf(&text, "allowed by rule %s%s%s", rule->id, rule->description ? ": " : "",
                    rule->description ? rule->description : "");
    return keep(p, &text);
}

static struct st_str end_of_refusal(struct st_policy *p, const struct st_rule *rule)
{
    st_auto_buf text = ST_BUF_INIT;

    st_buf_addf(&text, " is refused by rule %s%s%s", rule->id ? rule->id : "", rule->description ? ": " : "",
                rule->description ? rule->description : "");
    return keep(p, &text);
}

static struct rule_brief brief_of(struct st_policy *p, size_t index)
{
    const struct st_rule *rule = &p->rules[index];

    return (struct rule_brief){.id = st_str(rule->id),
                               .allowed = reason_to_allow(p, index),
                               .refused = end_of_refusal(p, rule),
                               .slot = rule->slot,
                               .type = (uint8_t)rule->type,
                               .action = (uint8_t)rule->action,
                               .severity = (uint8_t)rule->severity,
                               .audit_only = rule->audit_only,
                               .limited = rule->max_bytes_per_call >= 0 || rule->max_bytes_total >= 0,
                               .binds = rule->n_bind > 0};
}

void st_policy_build(struct st_policy *p)
{
    size_t all = p->n_rules + p->settings.n_scope;
    uint32_t cap = 0;

    append_scope(p);
    p->paths = st_pathmatch_new();
    st_hashmatch_init(&p->hashes);
    p->egress = st_netmatch_new();
    p->ingress = st_netmatch_new();
    p->dns = st_netmatch_new();
    st_trie_init(&p->syscalls);
    p->generic = st_xcalloc(p->n_rules + 1, sizeof(*p->generic));
    p->brief = st_xcalloc(all + 1, sizeof(*p->brief));
    for (uint32_t i = 0; i < all; i++) {
        switch (p->rules[i].type) {
        case ST_RULE_FILESYSTEM: add_paths(p, i); break;
        case ST_RULE_PROCESS: add_programs(p, i); break;
        case ST_RULE_EGRESS: p->rules[i].slot = p->n_totals++; __attribute__((fallthrough));
        case ST_RULE_INGRESS: add_network(p, i); break;
        case ST_RULE_DNS:
            for (uint32_t n = 0; n < p->rules[i].n_names; n++)
                st_netmatch_add_host(p->dns, p->rules[i].names[n], (struct net_ref){i, n, true});
            break;
        case ST_RULE_SYSCALL: add_syscalls(p, i, &cap); break;
        case ST_RULE_MATCH:
        case ST_RULE_THRESHOLD:
        case ST_RULE_SEQUENCE:
        case ST_RULE_TYPES: add_generic(p, i); break;
        }
    }
    for (size_t i = 0; i < all; i++)
        p->brief[i] = brief_of(p, i);
    st_pathmatch_finish(p->paths);
    st_hashmatch_finish(&p->hashes);
    st_netmatch_finish(p->egress);
    st_netmatch_finish(p->ingress);
    st_netmatch_finish(p->dns);
    st_policy_plan(p);
}

void st_policy_unbuild_matchers(struct st_policy *p)
{
    st_pathmatch_free(p->paths);
    st_hashmatch_free(&p->hashes);
    st_netmatch_free(p->egress);
    st_netmatch_free(p->ingress);
    st_netmatch_free(p->dns);
    st_trie_free(&p->syscalls);
    refs_free(&p->syscall_refs);
    free(p->by_syscall);
    free(p->brief);
    p->paths = NULL;
    p->egress = p->ingress = p->dns = NULL;
    p->by_syscall = NULL;
    p->brief = NULL;
}

void st_policy_unbuild(struct st_policy *p)
{
    for (size_t i = 0; i < p->n_generic && !p->source; i++) {
        struct st_rule *rule = &p->rules[p->generic[i]];

        free_condition(&rule->when);
        for (size_t step = 0; step < rule->sequence.n_steps; step++)
            free_condition(&rule->sequence.steps[step]);
    }
    st_policy_unbuild_matchers(p);
    free(p->generic);
    free(p->writable);
}
