/* config: see config.h. One table says what each key is; the walk over the file knows no key by name. */
#include "config/config_private.h"

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/yaml.h"
#include "model/addr.h"
#include "model/policy_name.h"

#include <string.h>

#define DEFAULT_FILE ST_SYSCONFDIR "/sandtrace.yaml"
#define MAX_BYTES ((size_t)1 << 20)
#define MAX_ITEMS 16 /* of a list */

enum kind { PATH, PROGRAM, DIRS, ADDRS, COMMAND, POLICY, GROUP, BOOL, CHOICE, DURATION, WAIT, SIZE, SINKS };

struct choices {
    const char *words[6]; /* in the order of the enum, NULL-terminated */
    const char *hint;
};

struct key {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct st_config */
    const char *fallback;
    const struct choices *choices; /* CHOICE */
    const char *variable;          /* environment variable that overrides it */
};

static const struct choices worker_failures = {{"kill", "pause", NULL}, "write kill or pause"};
static const struct choices trace_failures = {{"pause", "kill", NULL}, "write pause or kill"};
static const struct choices freezers = {{"auto", "v1", "v2", NULL}, "write auto, v1 or v2"};
static const struct choices process_events = {{"auto", "polled", NULL}, "write auto or polled"};
static const struct choices refusals = {{"refuse", "allow", NULL}, "write refuse or allow"};
static const struct choices host_networks = {{"refuse", "allow", "cgroup", NULL},
                                             "write refuse, cgroup or allow"};
static const struct choices net_admins = {{"refuse", "allow", "outside", NULL},
                                          "write refuse, allow or outside"};
static const struct choices depths = {{"strict", "policy", NULL}, "write policy or strict"};
static const struct choices quarantines = {{"never", "low", "medium", "high", "critical", NULL},
                                           "write low, medium, high, critical or never"};
static const struct choices unreviewed = {{"off", "container", "image", NULL},
                                          "write off, container or image"};
static const struct choices pod_sandboxes = {{"light", "full", NULL}, "write light or full"};

#define AT(member) offsetof(struct st_config, member)
static const struct key keys[] = {
    {"runtime", PROGRAM, AT(runtime), NULL, NULL, "SANDTRACE_RUNTIME"},
    {"hook", PATH, AT(hook), ST_LIBEXECDIR "/sandtrace-hook", NULL, NULL},
    {"monitor", PATH, AT(monitor), ST_LIBEXECDIR "/sandtrace-monitor", NULL, NULL},
    {"state_dir", PATH, AT(state_dir), ST_RUNDIR, NULL, "SANDTRACE_STATE_DIR"},
    {"log_dir", PATH, AT(log_dir), ST_LOGDIR, NULL, "SANDTRACE_LOG_DIR"},
    {"events_db", PATH, AT(events_db), ST_LIBDIR "/events.db", NULL, "SANDTRACE_DB"},
    {"quarantine_dir", PATH, AT(quarantine_dir), ST_LIBDIR "/quarantine", NULL, "SANDTRACE_QUARANTINE_DIR"},
    {"quarantine_at", CHOICE, AT(quarantine_at), "high", &quarantines, NULL},
    {"quarantine_max_bytes", SIZE, AT(quarantine_max_bytes), "256MiB", NULL, NULL},
    {"refuse_unreviewed", CHOICE, AT(refuse_unreviewed), "off", &unreviewed, NULL},
    {"on_review", COMMAND, AT(on_review), NULL, NULL, NULL},
    {"policy_dirs", DIRS, AT(policy_dirs), ST_SYSCONFDIR "/policies:" ST_DATADIR "/policies", NULL,
     "SANDTRACE_POLICY_DIR"},
    {"key_dir", PATH, AT(key_dir), ST_SYSCONFDIR "/keys", NULL, "SANDTRACE_KEY_DIR"},
    {"default_policy", POLICY, AT(default_policy), "agent-default", NULL, NULL},
    {"policy_paths", BOOL, AT(policy_paths), "false", NULL, NULL},
    {"policy_from_env", BOOL, AT(policy_from_env), "false", NULL, NULL},
    {"allow_disable", BOOL, AT(allow_disable), "false", NULL, NULL},
    {"allow_unsigned", BOOL, AT(allow_unsigned), "false", NULL, NULL},
    {"control_group", GROUP, AT(control_group), NULL, NULL, NULL},
    {"on_worker_failure", CHOICE, AT(on_worker_failure), "kill", &worker_failures, NULL},
    {"on_trace_failure", CHOICE, AT(on_trace_failure), "pause", &trace_failures, NULL},
    {"trace_rotate", SIZE, AT(trace_rotate), "0", NULL, NULL},
    {"sinks", SINKS, AT(sinks), NULL, NULL, NULL},
    {"worker_grace", DURATION, AT(worker_grace_ms), "5s", NULL, NULL},
    {"freezer", CHOICE, AT(freezer), "auto", &freezers, NULL},
    {"process_events", CHOICE, AT(process_events), "auto", &process_events, NULL},
    {"depth", CHOICE, AT(depth), "policy", &depths, NULL},
    {"pod_sandbox", CHOICE, AT(pod_sandbox), "light", &pod_sandboxes, NULL},
    {"network", BOOL, AT(network), "true", NULL, NULL},
    {"resolvers", ADDRS, AT(resolvers), NULL, NULL, NULL},
    {"inner_names", CHOICE, AT(inner_names), "refuse", &refusals, NULL},
    {"host_network", CHOICE, AT(host_network), "refuse", &host_networks, NULL},
    {"net_admin", CHOICE, AT(net_admin), "refuse", &net_admins, NULL},
    {"host_pid", CHOICE, AT(host_pid), "refuse", &refusals, NULL},
    {"cgroup_write", CHOICE, AT(cgroup_write), "refuse", &refusals, NULL},
    {"engine_socket", CHOICE, AT(engine_socket), "refuse", &refusals, NULL},
    {"host_devices", CHOICE, AT(host_devices), "refuse", &refusals, NULL},
    {"dead_man_switch", BOOL, AT(dead_man_switch), "true", NULL, NULL},
    {"hook_timeout", WAIT, AT(hook_timeout_ms), "30s", NULL, NULL},
};
#undef AT
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

static bool is_list(const struct key *key)
{
    return key->kind == DIRS || key->kind == ADDRS || key->kind == COMMAND;
}

static void replace(char **slot, const char *value)
{
    free(*slot);
    *slot = st_xstrdup(value);
}

static void free_list(char ***list)
{
    for (char **item = *list; item && *item; item++)
        free(*item);
    free(*list);
    *list = NULL;
}

static const char *set_path(const struct key *key, const char *value, char **slot)
{
    const char *fault;

    if (key->kind == PROGRAM && value[0] && !strchr(value, '/'))
        fault = NULL; /* a name: searched for in PATH */
    else if (key->kind == POLICY && value[0] != '/')
        fault = st_policy_name_ok(st_str(value)) ? NULL : ST_POLICY_NAME_HINT;
    else
        fault = st_path_fault(value);
    if (!fault)
        replace(slot, value);
    return fault;
}

static const char *set_group(const char *value, char **slot)
{
    size_t len = strlen(value);

    if (len == 0 || len > 64 || strpbrk(value, ":, \t\n"))
        return "write the name or the number of a group";
    replace(slot, value);
    return NULL;
}

static const char *set_bool(const char *value, bool *slot)
{
    bool yes = strcmp(value, "true") == 0;

    if (!yes && strcmp(value, "false") != 0)
        return "write true or false";
    *slot = yes;
    return NULL;
}

static const char *set_choice(const struct key *key, const char *value, unsigned *slot)
{
    for (unsigned i = 0; key->choices->words[i]; i++)
        if (strcmp(key->choices->words[i], value) == 0) {
            *slot = i;
            return NULL;
        }
    return key->choices->hint;
}

static const char *set_duration(const char *value, int64_t *slot)
{
    return st_duration_parse(value, slot) ? NULL : ST_DURATION_HINT;
}

static const char *item_fault(enum kind kind, const char *item, bool first)
{
    struct st_addr addr;

    if (kind == DIRS)
        return st_path_fault(item);
    if (kind == COMMAND) /* the program; its arguments are its own business */
        return first ? st_path_fault(item) : NULL;
    return st_addr_parse(st_str(item), &addr) ? NULL : "write addresses, such as [10.0.0.53, fd00::53]";
}

static const char *add_item(enum kind kind, const char *value, size_t len, char ***slot)
{
    st_auto_free char *item = st_xstrndup(value, len);
    const char *fault = item_fault(kind, item, !*slot);
    size_t n = 0;

    if (fault)
        return fault;
    while (*slot && (*slot)[n])
        n++;
    if (n == MAX_ITEMS)
        return "write at most 16";
    *slot = st_xrealloc(*slot, (n + 2) * sizeof(**slot));
    (*slot)[n] = st_steal_ptr(&item);
    (*slot)[n + 1] = NULL;
    return NULL;
}

static const char *set_dirs(const char *value, char ***slot)
{
    const char *fault = NULL;

    free_list(slot);
    for (const char *at = value; !fault;) {
        size_t len = strcspn(at, ":");

        fault = add_item(DIRS, at, len, slot);
        if (!at[len])
            break;
        at += len + 1;
    }
    return fault;
}

/* How long an engine may be kept waiting: neither not at all nor for ever. */
static const char *set_wait(const char *value, int64_t *slot)
{
    int64_t ms;

    if (!st_duration_parse(value, &ms) || ms < 1000 || ms > 3600000)
        return "write a duration from 1s to 1h";
    *slot = ms;
    return NULL;
}

/* From 1MiB on, so that no file is all checkpoints. */
static const char *set_size(const char *value, int64_t *slot)
{
    static const struct {
        const char *unit;
        int shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    int64_t n = 0;
    size_t at = 0;

    for (; value[at] >= '0' && value[at] <= '9' && n < 1000000; at++)
        n = n * 10 + (value[at] - '0');
    for (size_t i = 0; at && i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(value + at, units[i].unit) == 0 && n << units[i].shift >= 1 << 20) {
            *slot = n << units[i].shift;
            return NULL;
        }
    if (strcmp(value, "0") != 0)
        return "write a size from 1MiB on, such as 256MiB or 1GiB, or 0";
    *slot = 0;
    return NULL;
}

/* Give one key the value; returns what would be right where it is wrong, else NULL. */
static const char *set_value(struct st_config *config, const struct key *key, const char *value)
{
    void *slot = (char *)config + key->offset;

    switch (key->kind) {
    case PATH:
    case PROGRAM:
    case POLICY: return set_path(key, value, slot);
    case DIRS: return set_dirs(value, slot);
    case GROUP: return set_group(value, slot);
    case BOOL: return set_bool(value, slot);
    case CHOICE: return set_choice(key, value, slot);
    case DURATION: return set_duration(value, slot);
    case WAIT: return set_wait(value, slot);
    case SIZE: return set_size(value, slot);
    case ADDRS:
    case COMMAND: free_list(slot); return add_item(key->kind, value, strlen(value), slot);
    case SINKS: break; /* not one value */
    }
    return "not a known kind of key";
}

int st_config_wrong(struct st_error *err, const char *file, struct st_yaml_place at, const char *what,
                    const char *subject, const char *right)
{
    return st_fail(err, EINVAL, "%s:%u:%u: %s `%.100s`; %s", file, at.line, at.column, what, subject, right);
}

static int unknown_key(const char *file, const struct st_yaml_node *node, struct st_error *err)
{
    struct st_suggestion best = {0};
    char right[160];

    for (size_t i = 0; i < N_KEYS; i++)
        st_suggest_offer(&best, node->key, keys[i].name);
    if (best.word)
        snprintf(right, sizeof(right), "did you mean `%s`?", best.word);
    else
        snprintf(right, sizeof(right), "sandtrace.yaml(5) lists the keys");
    return st_config_wrong(err, file, node->key_at, "unknown key", node->key, right);
}

static int set_list(struct st_config *config, const struct key *key, const char *file,
                    const struct st_yaml_node *list, struct st_error *err)
{
    char ***slot = (char ***)(void *)((char *)config + key->offset);

    free_list(slot);
    if (!list->first)
        return st_config_wrong(err, file, list->at, "empty list for", key->name,
                               key->kind == DIRS ? "name at least one directory" : "leave the key out");
    st_yaml_each (item, list) {
        const char *fault = item->type == ST_YAML_SCALAR ? add_item(key->kind, item->value, item->len, slot)
                            : key->kind == DIRS          ? "write a list of paths"
                            : key->kind == COMMAND       ? "write a program and its arguments"
                                                         : "write a list of addresses";

        if (fault)
            return st_config_wrong(err, file, item->at, "wrong value in", key->name, fault);
    }
    return 0;
}

static int set_from_node(struct st_config *config, const char *file, const struct st_yaml_node *node,
                         struct st_error *err)
{
    const struct key *key = NULL;
    const char *fault;

    for (size_t i = 0; i < N_KEYS && !key; i++)
        if (strcmp(keys[i].name, node->key) == 0)
            key = &keys[i];
    if (!key)
        return unknown_key(file, node, err);
    if (is_list(key) && node->type == ST_YAML_SEQUENCE)
        return set_list(config, key, file, node, err);
    if (key->kind == SINKS && !st_yaml_is_null(node))
        return st_config_read_sinks(config, file, node, err);
    if (node->type != ST_YAML_SCALAR)
        return st_config_wrong(err, file, node->at, "wrong value for", key->name, "write one plain value");
    if (st_yaml_is_null(node))
        return 0; /* `key:` with nothing behind it keeps the default */
    if (node->quoted && key->kind == BOOL)
        fault = "write true or false without quotes";
    else
        fault = set_value(config, key, node->value);
    return fault ? st_config_wrong(err, file, node->at, "wrong value for", key->name, fault) : 0;
}

static int read_text(struct st_config *config, const char *name, const char *text, size_t len,
                     struct st_error *err)
{
    static const struct st_yaml_limits limits = {
        .max_bytes = MAX_BYTES, .max_depth = 4, .max_nodes = 1024, .max_scalar = 4096};
    const struct st_yaml_node *root;
    struct st_yaml_place where;
    st_auto_yaml doc = NULL;
    int rc = st_yaml_parse(text, len, &limits, &doc, &where, err);

    if (rc < 0)
        return st_wrap(err, "%s:%u:%u", name, where.line, where.column);
    root = st_yaml_root(doc);
    if (!root || st_yaml_is_null(root))
        return 0;
    if (root->type != ST_YAML_MAPPING)
        return st_config_wrong(err, name, root->at, "not a list of", "key: value", "see sandtrace.yaml(5)");
    st_yaml_each (node, root) {
        rc = set_from_node(config, name, node, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_environment(struct st_config *config, struct st_error *err)
{
    for (size_t i = 0; i < N_KEYS; i++) {
        const char *value = keys[i].variable ? getenv(keys[i].variable) : NULL;
        const char *fault = value && *value ? set_value(config, &keys[i], value) : NULL;

        if (fault)
            return st_fail(err, EINVAL, "environment variable %s: wrong value `%.100s`; %s", keys[i].variable,
                           value, fault);
    }
    return 0;
}

static struct st_config *defaults(void)
{
    struct st_config *config = st_xcalloc(1, sizeof(*config));

    for (size_t i = 0; i < N_KEYS; i++)
        if (keys[i].fallback && set_value(config, &keys[i], keys[i].fallback))
            abort();
    return config;
}

int st_config_parse(const char *name, const char *text, size_t len, struct st_config **out,
                    struct st_error *err)
{
    st_auto_config config = defaults();
    int rc = read_text(config, name, text, len, err);

    if (rc < 0)
        return rc;
    replace(&config->file, name);
    *out = st_steal_ptr(&config);
    return 0;
}

/* The hook is told the file's name and runs with another working directory. */
static int make_absolute(char **file, struct st_error *err)
{
    st_auto_free char *cwd = NULL;
    char *absolute;

    if (!*file || **file == '/')
        return 0;
    cwd = getcwd(NULL, 0);
    if (!cwd)
        return st_fail_errno(err, "working directory");
    absolute = st_xasprintf("%s/%s", cwd, *file);
    free(*file);
    *file = absolute;
    return 0;
}

int st_config_load(const char *file, struct st_config **out, struct st_error *err)
{
    const char *named = file ? file : getenv("SANDTRACE_CONFIG");
    st_auto_config config = NULL;
    st_auto_buf text = ST_BUF_INIT;
    int rc;

    if (!named || (!file && !*named))
        named = NULL;
    rc = st_read_trusted_file(named ? named : DEFAULT_FILE, MAX_BYTES, &text, err);
    if (rc == -ENOENT && !named)
        config = defaults();
    else if (rc < 0)
        return st_wrap(err, "configuration");
    else
        rc = st_config_parse(named ? named : DEFAULT_FILE, st_buf_cstr(&text), text.len, &config, err);
    if (!config)
        return rc;
    rc = make_absolute(&config->file, err);
    if (rc == 0)
        rc = read_environment(config, err);
    if (rc < 0)
        return rc;
    *out = st_steal_ptr(&config);
    return 0;
}

void st_config_free(struct st_config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < N_KEYS; i++) {
        void *slot = (char *)config + keys[i].offset;

        if (is_list(&keys[i]))
            free_list(slot);
        else if (keys[i].kind <= GROUP)
            st_free_ptr(slot);
    }
    for (size_t i = 0; i < config->n_sinks; i++)
        free(config->sinks[i].to);
    free(config->sinks);
    free(config->file);
    free(config);
}

void st_config_freep(struct st_config **config)
{
    st_config_free(*config);
    *config = NULL;
}
