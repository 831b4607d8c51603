/* st_parse_settings: everything of a policy that is not a rule, and which form a file is in. */
#include "policy/parse.h"

#include "base/suggest.h"
#include "model/policy_name.h"
#include "policy/pattern.h"

#include <stdio.h>
#include <string.h>

#define DAY_MS ((int64_t)86400000)
#define MAX_SCOPE 256

static const char *const modes[] = {"enforce", "audit"};
static const char *const floors[] = {"mount", "landlock", "off"};
static const char *const depths[] = {"guard", "record", "strict"};
static const char *const decisions[] = {"allow", "deny"};
static const char *const timeouts[] = {"deny", "kill", "resume"};
static const char *const responses[] = {"record", "deny", "pause", "kill"};
static const char *const severities[] = {"low", "medium", "high", "critical"};

const char *st_policy_mode_name(enum st_policy_mode mode)
{
    return modes[mode == ST_MODE_AUDIT];
}

const char *st_floor_name(enum st_floor floor)
{
    return (size_t)floor < N_OF(floors) ? floors[floor] : "?";
}

const char *st_depth_name(enum st_depth depth)
{
    return (size_t)depth < N_OF(depths) ? depths[depth] : "?";
}

const char *st_on_timeout_name(enum st_on_timeout t)
{
    return (size_t)t < N_OF(timeouts) ? timeouts[t] : "?";
}

void st_settings_init(struct settings *s, enum form form)
{
    *s = (struct settings){
        .defaults = {.fs_read = ST_ALLOW,
                     .fs_write = ST_DENY,
                     .fs_exec = ST_ALLOW,
                     .egress = ST_DENY,
                     .ingress = ST_ALLOW,
                     .syscall = ST_ALLOW,
                     .severity = ST_SEV_HIGH},
        .limits = {16, 128, 512, 20000, false},
        .on_violation = {[ST_SEV_LOW] = ST_RESPOND_RECORD,
                         [ST_SEV_MEDIUM] = ST_RESPOND_DENY,
                         [ST_SEV_HIGH] = ST_RESPOND_PAUSE,
                         [ST_SEV_CRITICAL] = ST_RESPOND_PAUSE},
        .pause = {.hold = true, .timeout_ms = 15 * 60000, .on_timeout = ST_TIMEOUT_DENY},
        .fold_ms = 10000,
    };
    /* The older forms know no limits but those they name. */
    if (form != FORM_OWN)
        s->limits = (struct st_process_limits){ST_UNKNOWN, ST_UNKNOWN, ST_UNKNOWN, ST_UNKNOWN, false};
}

/* ---- one taker a key ---- */

static void take_schema(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    (void)r, (void)node, (void)ctx; /* st_parse_form has looked at it */
}

static void take_elsewhere(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    (void)r, (void)node, (void)ctx; /* `extends` and `rules` are read by the loader */
}

static void take_name(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct settings *s = ctx;
    const char *name;

    if (!st_take_string(r, node, &name))
        return;
    if (!st_policy_name_ok(st_str(name)))
        complain(r, node, ST_POLICY_NAME_HINT, "`%.80s` can't be the name of a policy", name);
    else
        s->name = name;
}

static void take_description(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_take_string(r, node, &((struct settings *)ctx)->description);
}

static void take_mode(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    int mode;

    if (st_take_word(r, node, modes, N_OF(modes), &mode))
        ((struct settings *)ctx)->mode = (enum st_policy_mode)mode;
}

static void take_locked(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct settings *s = ctx;
    bool locked;

    if (!st_take_bool(r, node, &locked))
        return;
    if (s->locked && !locked)
        complain(r, node, "leave `locked` out, or extend another policy",
                 "the policy that this one extends is locked, which can't be undone");
    s->locked |= locked;
}

static void take_scope(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct settings *s = ctx;

    if (node->type == ST_YAML_SEQUENCE && !node->first) { /* an empty scope is a scope */
        s->n_scope = 0;
        return;
    }
    st_parse_paths(r, node, &s->scope, &s->n_scope);
    s->scope_at = (struct st_rule_place){r->file->name, node->at.line, node->at.column};
    if (s->n_scope > MAX_SCOPE)
        complain(r, node, "use a rule of type filesystem", "more than %d directories in the scope",
                 MAX_SCOPE);
    st_yaml_each (item, node)
        if (item->type == ST_YAML_SCALAR && strchr(item->value, '*'))
            complain(r, item, "write the directory alone: the scope is it and all below",
                     "the scope has directories, not patterns");
}

static void take_decision(struct reader *r, const struct st_yaml_node *node, enum st_result *out)
{
    int word;

    if (st_take_word(r, node, decisions, N_OF(decisions), &word))
        *out = word ? ST_DENY : ST_ALLOW;
}

#define DECISION(fn, member)                                                                                 \
    static void fn(struct reader *r, const struct st_yaml_node *node, void *ctx)                             \
    {                                                                                                        \
        take_decision(r, node, &((struct settings *)ctx)->defaults.member);                                  \
    }
DECISION(take_read, fs_read)
DECISION(take_write, fs_write)
DECISION(take_exec, fs_exec)
DECISION(take_egress, egress)
DECISION(take_ingress, ingress)
DECISION(take_syscall, syscall)

#define EXEC_OF(fn, member)                                                                                  \
    static void fn(struct reader *r, const struct st_yaml_node *node, void *ctx)                             \
    {                                                                                                        \
        take_decision(r, node, &((struct settings *)ctx)->exec_of.member);                                   \
    }
EXEC_OF(take_exec_of_new, new_file)
EXEC_OF(take_exec_of_deleted, deleted)
EXEC_OF(take_exec_of_memfd, memfd)

static void take_dns(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    ((struct settings *)ctx)->dns_default_given = true;
    take_decision(r, node, &((struct settings *)ctx)->defaults.dns);
}

static void take_process(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    ((struct settings *)ctx)->exec_default_given = true;
    take_decision(r, node, &((struct settings *)ctx)->defaults.exec);
}

static void take_severity(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    int word;

    if (st_take_word(r, node, severities, N_OF(severities), &word))
        ((struct settings *)ctx)->defaults.severity = (enum st_severity)(word + 1);
}

static void take_filesystem(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const struct key keys[] = {{"read", take_read}, {"write", take_write}, {"exec", take_exec}};

    if (node->type == ST_YAML_SCALAR) {
        complain(r, node, "write { read: allow, write: deny, exec: allow }",
                 "`filesystem` has a default for each kind of access");
        return;
    }
    st_read_keys(r, node, keys, N_OF(keys), ctx, "the defaults of filesystem");
}

static void take_defaults(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const struct key keys[] = {
        {"filesystem", take_filesystem}, {"network_egress", take_egress}, {"network_ingress", take_ingress},
        {"dns_query", take_dns},         {"process", take_process},       {"syscall", take_syscall},
        {"severity", take_severity},
    };

    st_read_keys(r, node, keys, N_OF(keys), ctx, "`defaults`");
}

static void take_floor(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct settings *s = ctx;
    int word;

    if (!st_take_word(r, node, floors, N_OF(floors), &word))
        return;
    s->floor = (enum st_floor)word;
    s->floor_given = true;
}

static void take_depth(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    int word;

    if (st_take_word(r, node, depths, N_OF(depths), &word))
        ((struct settings *)ctx)->depth = (enum st_depth)word;
}

static void take_limit(struct reader *r, const struct st_yaml_node *node, int64_t *out)
{
    if (node->type == ST_YAML_SCALAR && strcmp(node->value, "unlimited") == 0)
        *out = ST_UNKNOWN;
    else
        st_take_int(r, node, 1, 4194304, out);
}

#define LIMIT(fn, member)                                                                                    \
    static void fn(struct reader *r, const struct st_yaml_node *node, void *ctx)                             \
    {                                                                                                        \
        take_limit(r, node, &((struct settings *)ctx)->limits.member);                                       \
    }
LIMIT(take_max_depth, max_depth)
LIMIT(take_max_children, max_children)
LIMIT(take_max_processes, max_processes)
LIMIT(take_max_forks, max_forks)

static void take_before(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_take_bool(r, node, &((struct settings *)ctx)->limits.before);
}

void st_parse_limits(struct reader *r, const struct st_yaml_node *node, void *settings)
{
    static const struct key keys[] = {
        {"max_depth", take_max_depth},
        {"max_children", take_max_children},
        {"max_processes", take_max_processes},
        {"max_forks_per_second", take_max_forks},
        {"before", take_before},
        {"max_fanout", take_max_children}, /* the older name */
    };

    st_read_keys(r, node, keys, N_OF(keys), settings, "`process_limits`");
}

#define RESPONSE(fn, severity)                                                                               \
    static void fn(struct reader *r, const struct st_yaml_node *node, void *ctx)                             \
    {                                                                                                        \
        int word;                                                                                            \
        if (st_take_word(r, node, responses, N_OF(responses), &word))                                        \
            ((struct settings *)ctx)->on_violation[severity] = (enum st_response)word;                       \
    }
RESPONSE(take_low, ST_SEV_LOW)
RESPONSE(take_medium, ST_SEV_MEDIUM)
RESPONSE(take_high, ST_SEV_HIGH)
RESPONSE(take_critical, ST_SEV_CRITICAL)

void st_parse_on_violation(struct reader *r, const struct st_yaml_node *node, void *settings)
{
    static const struct key keys[] = {
        {"low", take_low}, {"medium", take_medium}, {"high", take_high}, {"critical", take_critical}};

    st_read_keys(r, node, keys, N_OF(keys), settings, "`on_violation`");
}

static void take_hold(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_take_bool(r, node, &((struct settings *)ctx)->pause.hold);
}

static void take_timeout(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_take_duration(r, node, 365 * DAY_MS, &((struct settings *)ctx)->pause.timeout_ms);
}

static void take_on_timeout(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    int word;

    if (st_take_word(r, node, timeouts, N_OF(timeouts), &word))
        ((struct settings *)ctx)->pause.on_timeout = (enum st_on_timeout)word;
}

static void take_pause(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const struct key keys[] = {
        {"hold", take_hold}, {"timeout", take_timeout}, {"on_timeout", take_on_timeout}};

    st_read_keys(r, node, keys, N_OF(keys), ctx, "`pause`");
}

static void take_window(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_take_duration(r, node, DAY_MS, &((struct settings *)ctx)->fold_ms);
}

static void take_fold(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const struct key keys[] = {{"window", take_window}};

    st_read_keys(r, node, keys, N_OF(keys), ctx, "`fold`");
}

/* ---- the top ---- */

static const struct key own_keys[] = {
    {"schema_version", take_schema},
    {"name", take_name},
    {"description", take_description},
    {"mode", take_mode},
    {"locked", take_locked},
    {"extends", take_elsewhere},
    {"scope", take_scope},
    {"defaults", take_defaults},
    {"rules", take_elsewhere},
    {"floor", take_floor},
    {"depth", take_depth},
    {"process_limits", st_parse_limits},
    {"exec_of_new", take_exec_of_new},
    {"exec_of_deleted", take_exec_of_deleted},
    {"exec_of_memfd", take_exec_of_memfd},
    {"on_violation", st_parse_on_violation},
    {"pause", take_pause},
    {"fold", take_fold},
};

static const struct key seed_keys[] = {
    {"schema_version", take_schema},   {"name", take_name},
    {"description", take_description}, {"mode", take_mode},
    {"rules", take_elsewhere},
};

static const struct key *find_key(const struct key *keys, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

void st_parse_settings(struct reader *r, const struct st_yaml_node *root, enum form form, struct settings *s)
{
    const struct key *keys = form == FORM_OWN ? own_keys : seed_keys;
    size_t n = form == FORM_OWN ? N_OF(own_keys) : N_OF(seed_keys);

    st_yaml_each (node, root) {
        const struct key *key = find_key(keys, n, node->key);

        if (key)
            key->take(r, node, s);
        else if (form == FORM_SEED && find_key(own_keys, N_OF(own_keys), node->key))
            complain_key(r, node, "write schema_version: \"2.0\"", "`%s` is not known to schema_version 1.0",
                         node->key);
        else
            st_unknown_key(r, node, keys, n, "a policy");
    }
}

/* A version that is not known, or missing, is an error; the rest is looked at as the present form. */
static enum form form_of_version(struct reader *r, const struct st_yaml_node *version)
{
    static const char *const known[] = {"2.0", "1.0"};
    int which = 0;

    st_take_word(r, version, known, N_OF(known), &which);
    return which == 0 ? FORM_OWN : FORM_SEED;
}

enum form st_parse_form(struct reader *r, const struct st_yaml_node *root)
{
    const struct st_yaml_node *version = st_yaml_get(root, "schema_version");

    if (version)
        return form_of_version(r, version);
    if (st_yaml_get(root, "fs_writes") || st_yaml_get(root, "network") || st_yaml_get(root, "severity_rules"))
        return FORM_WRITES;
    if (st_yaml_get(root, "rules") && !st_yaml_get(root, "scope") && !st_yaml_get(root, "defaults")) {
        /* Its later manifests dropped the line. */
        warn(r, root, "write schema_version: \"1.0\", or \"2.0\" for all that this form has",
             "`schema_version` is missing: read as 1.0");
        return FORM_SEED;
    }
    complain(r, root, "write schema_version: \"2.0\" at the top", "`schema_version` is missing");
    return FORM_OWN;
}
