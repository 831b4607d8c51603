/* parse_writes: the older form with fs_writes, network, process_limits and severity_rules, turned into rules
 * of the one table: what severity_rules lists is refused first, then what is blocked; then comes what is
 * allowed.
 *
 * Its words are prefixes and domains: `/tmp` is /tmp and all below (never /tmpx), `example.com` is the name
 * and all names below it (never notexample.com). It speaks of writing only: reading is left to the defaults.
 */
#include "policy/parse.h"

#include "base/buf.h"
#include "model/event.h"
#include "policy/pattern.h"

#include <stdio.h>
#include <string.h>

#define WRITES (ST_ACCESS_WRITE | ST_ACCESS_CREATE | ST_ACCESS_DELETE | ST_ACCESS_ATTRIB)
#define MAX_ALLOWED_PORTS 256

struct writes_ctx {
    struct settings *settings;
    struct rules *rules;
    const struct st_yaml_node *allowed_domains, *allowed_ports;
    const char *list;          /* "severity_rules.critical" */
    enum st_severity severity; /* of what is refused */
};

static struct st_rule *rule_of(struct reader *r, const struct st_yaml_node *node, struct writes_ctx *c,
                               enum st_rule_type type, enum st_result action, const char *key)
{
    struct st_rule *rule = st_add_rule(c->rules);
    st_auto_buf id = ST_BUF_INIT;

    st_buf_addf(&id, "%s.%s", c->list, key);
    rule->id = st_arena_strndup(r->arena, st_buf_cstr(&id), id.len);
    rule->type = type;
    rule->action = action;
    rule->severity = c->severity;
    rule->derived = true;
    rule->at = (struct st_rule_place){r->file->name, node->key_at.line, node->key_at.column};
    return rule;
}

/* ---- prefixes ---- */

static void add_prefix(struct reader *r, const struct st_yaml_node *node, const char *front,
                       const char *prefix, struct st_rule *rule, const char **list)
{
    st_auto_buf pattern = ST_BUF_INIT;
    struct path_patterns parsed;
    struct pattern_fault fault;
    size_t len = strlen(prefix);

    if (len >= 3 && strcmp(prefix + len - 3, "/**") == 0)
        len -= 3;
    while (len > 0 && prefix[len - 1] == '/')
        len--;
    st_buf_addf(&pattern, "%s%.*s/**", front, (int)len, prefix);
    if (st_path_pattern_parse(&r->scratch, st_buf_cstr(&pattern), &parsed, &fault))
        list[rule->n_paths++] = st_arena_strndup(r->arena, st_buf_cstr(&pattern), pattern.len);
    else
        complain(r, node, fault.right, "prefix `%.200s`: %s", prefix, fault.what);
    st_arena_clear(&r->scratch);
}

static void take_prefixes(struct reader *r, const struct st_yaml_node *node, struct writes_ctx *c,
                          enum st_result action)
{
    struct st_rule *rule;
    const char **list;

    if (node->type == ST_YAML_SEQUENCE && !node->first)
        return;
    if (!st_is_list(r, node))
        return;
    rule = rule_of(r, node, c, ST_RULE_FILESYSTEM, action, node->key);
    rule->access = WRITES;
    list = st_arena_alloc(r->arena, 2 * node->count * sizeof(*list)); /* `~` makes two */
    rule->paths = list;
    st_yaml_each (item, node) {
        const char *prefix;

        if (!st_take_string(r, item, &prefix))
            continue;
        if (strncmp(prefix, "~/", 2) == 0) { /* every home directory there may be */
            add_prefix(r, item, "/root", prefix + 1, rule, list);
            add_prefix(r, item, "/home/*", prefix + 1, rule, list);
        } else {
            add_prefix(r, item, "", prefix, rule, list);
        }
    }
}

/* ---- domains ---- */

static void add_domain(struct reader *r, const struct st_yaml_node *node, struct st_destination *list,
                       size_t *n)
{
    struct st_destination *d = &list[*n];
    struct pattern_fault fault;
    const char *text;
    char *below;

    if (!st_take_string(r, node, &text))
        return;
    if (st_cidr_parse(st_str(text), &d->addr, &d->bits) == ST_CIDR_OK) {
        st_addr_mask(&d->addr, d->bits);
        (*n)++;
        return;
    }
    d->addr.family = 0;
    if (!st_host_pattern_parse(r->arena, text, &d->host, &fault)) {
        complain(r, node, fault.right, "domain `%.200s`: %s", text, fault.what);
        return;
    }
    (*n)++;
    if (d->host[0] == '*')
        return;
    below = st_arena_alloc(r->arena, strlen(d->host) + 4);
    snprintf(below, strlen(d->host) + 4, "**.%s", d->host);
    list[(*n)++] = (struct st_destination){.host = below};
}

static void take_domains(struct reader *r, const struct st_yaml_node *node, struct writes_ctx *c,
                         enum st_result action, const struct st_port_range *ports, size_t n_ports)
{
    struct st_destination *list;
    struct st_rule *rule;
    size_t n = 0;

    if (node->type == ST_YAML_SEQUENCE && !node->first)
        return;
    if (!st_is_list(r, node))
        return;
    rule = rule_of(r, node, c, ST_RULE_EGRESS, action, node->key);
    list = st_arena_zalloc(r->arena, 2 * node->count * sizeof(*list));
    st_yaml_each (item, node)
        add_domain(r, item, list, &n);
    for (size_t i = 0; i < n; i++) {
        list[i].ports = ports;
        list[i].n_ports = n_ports;
    }
    rule->dests = list;
    rule->n_dests = n;
    if (n == 0)
        c->rules->n--; /* a rule without destinations would mean all of them */
}

static size_t take_ports(struct reader *r, const struct st_yaml_node *node, const struct st_port_range **out)
{
    struct st_port_range *list;
    size_t n = 0;

    if (!node || !st_is_list(r, node))
        return 0;
    if (node->count > MAX_ALLOWED_PORTS) {
        complain(r, node, "write ranges such as 8000-8010", "more than %d ports", MAX_ALLOWED_PORTS);
        return 0;
    }
    list = st_arena_alloc(r->arena, node->count * sizeof(*list));
    st_yaml_each (item, node)
        if (st_parse_port_item(r, item, &list[n]))
            n++;
    *out = list;
    return n;
}

/* ---- severity_rules ---- */

static void take_severe_paths(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    take_prefixes(r, node, ctx, ST_DENY);
}

static void take_severe_domains(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    take_domains(r, node, ctx, ST_DENY, NULL, 0);
}

static void take_severe(struct reader *r, const struct st_yaml_node *node, struct writes_ctx *c,
                        const char *list, enum st_severity severity)
{
    static const struct key keys[] = {{"paths", take_severe_paths}, {"domains", take_severe_domains}};

    c->list = list;
    c->severity = severity;
    st_read_keys(r, node, keys, N_OF(keys), c, "a severity");
}

#define SEVERE(fn, name, severity)                                                                           \
    static void fn(struct reader *r, const struct st_yaml_node *node, void *ctx)                             \
    {                                                                                                        \
        take_severe(r, node, ctx, "severity_rules." name, severity);                                         \
    }
SEVERE(take_critical, "critical", ST_SEV_CRITICAL)
SEVERE(take_high, "high", ST_SEV_HIGH)
SEVERE(take_medium, "medium", ST_SEV_MEDIUM)
SEVERE(take_low, "low", ST_SEV_LOW)

static void take_severity_rules(struct reader *r, const struct st_yaml_node *node, struct writes_ctx *c)
{
    static const struct key keys[] = {
        {"critical", take_critical}, {"high", take_high}, {"medium", take_medium}, {"low", take_low}};
    static const struct key *const order[] = {&keys[0], &keys[1], &keys[2], &keys[3]};

    if (!st_is_mapping(r, node))
        return;
    st_yaml_each (member, node)
        if (strcmp(member->key, "critical") != 0 && strcmp(member->key, "high") != 0 &&
            strcmp(member->key, "medium") != 0 && strcmp(member->key, "low") != 0)
            st_unknown_key(r, member, keys, N_OF(keys), "`severity_rules`");
    for (size_t i = 0; i < N_OF(order); i++) { /* the gravest first, whatever the file's order */
        const struct st_yaml_node *member = st_yaml_get(node, order[i]->name);

        if (member)
            order[i]->take(r, member, c);
    }
}

/* ---- fs_writes and network: checked here, used in the order of the table ---- */

static void skip(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    (void)r, (void)node, (void)ctx;
}

static void take_fs_writes(struct reader *r, const struct st_yaml_node *node, struct writes_ctx *c)
{
    static const struct key keys[] = {{"allowed_prefixes", skip}, {"blocked_prefixes", skip}};
    const struct st_yaml_node *allowed = st_yaml_get(node, "allowed_prefixes");
    const struct st_yaml_node *blocked = st_yaml_get(node, "blocked_prefixes");

    st_read_keys(r, node, keys, N_OF(keys), c, "`fs_writes`");
    c->list = "fs_writes";
    c->severity = ST_SEV_HIGH;
    if (blocked)
        take_prefixes(r, blocked, c, ST_DENY);
    if (allowed)
        take_prefixes(r, allowed, c, ST_ALLOW);
}

static void take_network(struct reader *r, const struct st_yaml_node *node, struct writes_ctx *c)
{
    static const struct key keys[] = {
        {"allowed_domains", skip}, {"blocked_domains", skip}, {"allowed_ports", skip}};
    const struct st_yaml_node *allowed = st_yaml_get(node, "allowed_domains");
    const struct st_yaml_node *blocked = st_yaml_get(node, "blocked_domains");
    const struct st_yaml_node *wanted = st_yaml_get(node, "allowed_ports");
    const struct st_port_range *ports = NULL;
    size_t n_ports;

    st_read_keys(r, node, keys, N_OF(keys), c, "`network`");
    c->list = "network";
    c->severity = ST_SEV_HIGH;
    if (blocked)
        take_domains(r, blocked, c, ST_DENY, NULL, 0);
    n_ports = take_ports(r, wanted, &ports);
    if (wanted && n_ports == 0)
        return; /* no port is allowed, or there was an error: never all of them */
    if (allowed)
        take_domains(r, allowed, c, ST_ALLOW, ports, n_ports);
    else if (wanted)
        warn(r, wanted, "add `allowed_domains`", "ports without domains allow nothing");
}

void st_parse_writes_form(struct reader *r, const struct st_yaml_node *root, struct settings *s,
                          struct rules *out)
{
    static const struct key keys[] = {
        {"fs_writes", skip}, {"network", skip}, {"severity_rules", skip}, {"process_limits", skip},
        {"name", skip},      {"mode", skip},    {"description", skip},    {"on_violation", skip},
    };
    static const char *const shared[] = {"name", "mode", "description"};
    struct writes_ctx c = {.settings = s, .rules = out};
    const struct st_yaml_node *severity = st_yaml_get(root, "severity_rules"), *node;
    struct st_yaml_node top = {.type = ST_YAML_MAPPING};

    st_read_keys(r, root, keys, N_OF(keys), &c, "this form of a policy");
    for (size_t i = 0; i < N_OF(shared); i++) {
        struct st_yaml_node one;

        node = st_yaml_get(root, shared[i]);
        if (!node)
            continue;
        one = *node;
        one.next = NULL;
        top.first = &one;
        st_parse_settings(r, &top, FORM_SEED, s);
    }
    if (severity)
        take_severity_rules(r, severity, &c);
    if ((node = st_yaml_get(root, "fs_writes")) && st_is_mapping(r, node))
        take_fs_writes(r, node, &c);
    if ((node = st_yaml_get(root, "network")) && st_is_mapping(r, node))
        take_network(r, node, &c);
    if ((node = st_yaml_get(root, "process_limits")))
        st_parse_limits(r, node, s);
    if ((node = st_yaml_get(root, "on_violation")))
        st_parse_on_violation(r, node, s);
}
