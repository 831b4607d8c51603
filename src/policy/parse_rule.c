/* parse_rule: one rule, by its type. A table says which keys each type has. */
#include "policy/parse.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/suggest.h"
#include "model/event.h"
#include "policy/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RULES 200000
#define ID_MAX 128

static const char *const type_names[] = {"filesystem", "network_egress", "network_ingress",
                                         "dns_query",  "process",        "syscall",
                                         "match",      "threshold",      "sequence"};
_Static_assert(N_OF(type_names) == ST_RULE_TYPES, "a name for each type");

const char *st_rule_type_name(enum st_rule_type type)
{
    return (size_t)type < N_OF(type_names) ? type_names[type] : "?";
}

struct st_rule *st_add_rule(struct rules *rules)
{
    if (rules->n == rules->cap) {
        rules->cap = rules->cap ? rules->cap * 2 : 16;
        rules->items = st_xrealloc(rules->items, rules->cap * sizeof(*rules->items));
    }
    rules->items[rules->n] = (struct st_rule){.max_bytes_per_call = -1, .max_bytes_total = -1};
    return &rules->items[rules->n++];
}

/* What is being read, and what has been seen. */
struct rule_ctx {
    struct st_rule *rule;
    enum form form;
    bool has_action, has_when;
};

/* ---- keys of every type ---- */

static void take_id(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    const char *id;

    if (!st_take_string(r, node, &id))
        return;
    for (const char *s = id; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == 0x7f || node->len > ID_MAX) {
            complain(r, node, "write 1 to 128 characters without white space",
                     "this can't be the id of a rule");
            return;
        }
    if (st_policy_reserved_id(id)) {
        complain(r, node, "choose another", "the id `%s` is taken: verdicts about that setting have it", id);
        return;
    }
    ((struct rule_ctx *)ctx)->rule->id = id;
}

static void take_type(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    (void)r, (void)node, (void)ctx; /* read first: it decides about the other keys */
}

static void take_description(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_take_string(r, node, &((struct rule_ctx *)ctx)->rule->description);
}

static void take_action(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const char *const words[] = {"allow", "deny"};
    struct rule_ctx *c = ctx;
    int word;

    c->has_action = true;
    if (st_take_word(r, node, words, N_OF(words), &word))
        c->rule->action = word ? ST_DENY : ST_ALLOW;
}

static void take_severity(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const char *const words[] = {"low", "medium", "high", "critical"};
    int word;

    if (st_take_word(r, node, words, N_OF(words), &word))
        ((struct rule_ctx *)ctx)->rule->severity = (enum st_severity)(word + 1);
}

static void take_mode(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const char *const words[] = {"enforce", "audit"};
    int word;

    if (st_take_word(r, node, words, N_OF(words), &word))
        ((struct rule_ctx *)ctx)->rule->audit_only = word == 1;
}

static void take_if_exists(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct st_rule *rule = ((struct rule_ctx *)ctx)->rule;
    const char *path;

    if (!st_take_string(r, node, &path))
        return;
    if (!st_path_is_normal(path, node->len))
        complain(r, node, "write an absolute path without `..`, without wildcards",
                 "`if_exists` is a path in the container");
    else
        rule->if_exists = path;
}

/* ---- paths and access ---- */

static void take_paths(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct st_rule *rule = ((struct rule_ctx *)ctx)->rule;

    st_parse_paths(r, node, &rule->paths, &rule->n_paths);
}

static void take_access(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_parse_access(r, node, &((struct rule_ctx *)ctx)->rule->access);
}

static void take_exec(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_parse_exec(r, node, ((struct rule_ctx *)ctx)->rule);
}

/* ---- the rest, by delegation ---- */

static void take_destinations(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_parse_destinations(r, node, ((struct rule_ctx *)ctx)->rule);
}

static void take_per_call(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_take_int(r, node, 0, (int64_t)1 << 52, &((struct rule_ctx *)ctx)->rule->max_bytes_per_call);
}

static void take_total(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_take_int(r, node, 0, (int64_t)1 << 52, &((struct rule_ctx *)ctx)->rule->max_bytes_total);
}

static void take_dns_names(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule)
{
    const char **list;
    size_t used = 0;

    if (!st_is_list(r, node))
        return;
    list = st_arena_alloc(r->arena, node->count * sizeof(*list));
    st_yaml_each (item, node) {
        struct pattern_fault fault;
        const char *text;

        if (!st_take_string(r, item, &text))
            continue;
        if (st_host_pattern_parse(r->arena, text, &list[used], &fault))
            used++;
        else
            complain(r, item, fault.right, "name `%.200s`: %s", text, fault.what);
    }
    rule->names = list;
    rule->n_names = used;
}

static void take_names(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct st_rule *rule = ((struct rule_ctx *)ctx)->rule;

    if (rule->type == ST_RULE_DNS)
        take_dns_names(r, node, rule);
    else
        st_parse_syscalls(r, node, rule);
}

static void take_match(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    ((struct rule_ctx *)ctx)->has_when = true;
    st_parse_condition(r, node, &((struct rule_ctx *)ctx)->rule->when);
}

static void take_bind(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_parse_bind(r, node, ((struct rule_ctx *)ctx)->rule);
}

static void take_threshold(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_parse_threshold(r, node, ((struct rule_ctx *)ctx)->rule);
}

static void take_sequence(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_parse_sequence(r, node, ((struct rule_ctx *)ctx)->rule);
}

/* ---- the table ---- */

#define T(type) (1u << (type))
#define ANY (T(ST_RULE_TYPES) - 1)

static const struct rule_key {
    struct key key;
    unsigned types;
    unsigned needed; /* types that can't do without */
} rule_keys[] = {
    {{"id", take_id}, ANY, ANY},
    {{"type", take_type}, ANY, 0},
    {{"description", take_description}, ANY, 0},
    {{"action", take_action}, ANY, 0},
    {{"severity", take_severity}, ANY, 0},
    {{"mode", take_mode}, ANY, 0},
    {{"if_exists", take_if_exists}, ANY, 0},
    {{"paths", take_paths}, T(ST_RULE_FILESYSTEM), T(ST_RULE_FILESYSTEM)},
    {{"access", take_access}, T(ST_RULE_FILESYSTEM), 0},
    {{"exec", take_exec}, T(ST_RULE_PROCESS), T(ST_RULE_PROCESS)},
    {{"destinations", take_destinations}, T(ST_RULE_EGRESS), 0},
    {{"sources", take_destinations}, T(ST_RULE_INGRESS), 0},
    {{"max_bytes_per_call", take_per_call}, T(ST_RULE_EGRESS), 0},
    {{"max_bytes_total", take_total}, T(ST_RULE_EGRESS), 0},
    {{"names", take_names}, T(ST_RULE_SYSCALL) | T(ST_RULE_DNS), T(ST_RULE_SYSCALL) | T(ST_RULE_DNS)},
    {{"match", take_match}, T(ST_RULE_MATCH) | T(ST_RULE_THRESHOLD), T(ST_RULE_MATCH)},
    {{"bind", take_bind}, T(ST_RULE_MATCH), 0},
    {{"threshold", take_threshold}, T(ST_RULE_THRESHOLD), T(ST_RULE_THRESHOLD)},
    {{"sequence", take_sequence}, T(ST_RULE_SEQUENCE), T(ST_RULE_SEQUENCE)},
};

static const struct rule_key *find_rule_key(const char *name)
{
    for (size_t i = 0; i < N_OF(rule_keys); i++)
        if (strcmp(rule_keys[i].key.name, name) == 0)
            return &rule_keys[i];
    return NULL;
}

static void refuse_key(struct reader *r, const struct st_yaml_node *node, const struct rule_key *known,
                       unsigned type)
{
    struct key of_type[N_OF(rule_keys)];
    char what[64], right[200];
    size_t n = 0, used;

    if (!known) {
        for (size_t i = 0; i < N_OF(rule_keys); i++)
            if (rule_keys[i].types & T(type))
                of_type[n++] = rule_keys[i].key;
        snprintf(what, sizeof(what), "a rule of type %s", type_names[type]);
        st_unknown_key(r, node, of_type, n, what);
        return;
    }
    used = (size_t)snprintf(right, sizeof(right), "it belongs to type");
    for (unsigned t = 0; t < ST_RULE_TYPES && used < sizeof(right); t++)
        if (known->types & T(t))
            used += (size_t)snprintf(right + used, sizeof(right) - used, " %s", type_names[t]);
    complain_key(r, node, right, "a rule of type %s has no `%s`", type_names[type], node->key);
}

static void check_needed(struct reader *r, const struct st_yaml_node *node, const struct rule_ctx *c)
{
    for (size_t i = 0; i < N_OF(rule_keys); i++) {
        const char *name = rule_keys[i].key.name;

        if (!(rule_keys[i].needed & T(c->rule->type)) || st_yaml_get(node, name))
            continue;
        /* The older manifests have rules without paths: all paths. */
        if (c->form == FORM_SEED && c->rule->type == ST_RULE_FILESYSTEM && strcmp(name, "paths") == 0) {
            static const char *const everything[] = {"/**"};

            c->rule->paths = everything;
            c->rule->n_paths = 1;
            continue;
        }
        complain(r, node,
                 strcmp(name, "paths") == 0 ? "write paths: [\"/**\"] where all are meant"
                 : strcmp(name, "id") == 0  ? "give it a name of its own: the trace names the rule by it"
                                            : NULL,
                 "a rule of type %s needs `%s`", type_names[c->rule->type], name);
    }
}

static void finish_rule(struct rule_ctx *c)
{
    struct st_rule *rule = c->rule;

    if (!c->has_action && (rule->type == ST_RULE_THRESHOLD || rule->type == ST_RULE_SEQUENCE))
        rule->action = ST_DENY; /* what they describe is what should not be */
    if (rule->severity == ST_SEV_NONE)
        rule->severity = ST_SEV_HIGH;
    if (rule->type == ST_RULE_FILESYSTEM && rule->access == 0)
        rule->access = ST_ACCESS_ALL;
}

static bool take_rule_type(struct reader *r, const struct st_yaml_node *node, int *which)
{
    const struct st_yaml_node *type = st_yaml_get(node, "type");

    if (type)
        return st_take_word(r, type, type_names, N_OF(type_names), which);
    complain(r, node,
             "write type: filesystem, network_egress, network_ingress, dns_query, process, syscall, "
             "match, threshold or sequence",
             "a rule needs `type`");
    return false;
}

/* The rule is refused; its other mistakes are looked for as if it had the type that was probably meant: the
 * one whose name is near, else the first that has one of its keys. */
static bool guess_type(const struct st_yaml_node *node, int *which)
{
    const struct st_yaml_node *type = st_yaml_get(node, "type");
    const char *near =
        type && type->type == ST_YAML_SCALAR ? st_suggest(type->value, type_names, N_OF(type_names)) : NULL;

    for (unsigned i = 0; near && i < N_OF(type_names); i++)
        if (near == type_names[i]) {
            *which = (int)i;
            return true;
        }
    st_yaml_each (member, node) {
        const struct rule_key *known = find_rule_key(member->key);

        if (known && known->types != ANY) {
            *which = __builtin_ctz(known->types);
            return true;
        }
    }
    return false;
}

static void parse_rule(struct reader *r, const struct st_yaml_node *node, enum form form, struct rules *out)
{
    struct rule_ctx c = {.form = form};
    int which;

    if (!st_is_mapping(r, node))
        return;
    if (!take_rule_type(r, node, &which) && !guess_type(node, &which))
        return;
    c.rule = st_add_rule(out);
    c.rule->type = (enum st_rule_type)which;
    c.rule->at = (struct st_rule_place){r->file->name, node->at.line, node->at.column};
    st_yaml_each (member, node) {
        const struct rule_key *known = find_rule_key(member->key);

        if (known && known->types & T((unsigned)which))
            known->key.take(r, member, &c);
        else
            refuse_key(r, member, known, (unsigned)which);
    }
    check_needed(r, node, &c);
    finish_rule(&c);
}

void st_parse_rules(struct reader *r, const struct st_yaml_node *list, enum form form, struct rules *out)
{
    if (list->type == ST_YAML_SEQUENCE && !list->first)
        return; /* no rules: the defaults decide everything */
    if (!st_is_list(r, list))
        return;
    if (list->count > MAX_RULES) {
        complain(r, list, "put many patterns into one rule", "more than %d rules", MAX_RULES);
        return;
    }
    st_yaml_each (item, list)
        parse_rule(r, item, form, out);
}
