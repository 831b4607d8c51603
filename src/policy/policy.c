/* policy: the snapshot's life and what it says about itself. */
#include "policy/policy.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "policy/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void hash_files(const struct loaded *from, char out[ST_SHA256_HEX + 1])
{
    unsigned char digest[ST_SHA256_SIZE];
    st_auto_buf lines = ST_BUF_INIT;

    memcpy(digest, from->digests[0], sizeof(digest));
    for (size_t i = 0; from->n_files > 1 && i < from->n_files; i++) {
        char hex[ST_SHA256_HEX + 1];

        st_hex(from->digests[i], ST_SHA256_SIZE, hex);
        st_buf_addf(&lines, "%s\n", hex);
    }
    if (lines.len)
        st_sha256(lines.data, lines.len, digest);
    st_hex(digest, sizeof(digest), out);
}

/* What was not said follows from what was. */
static void settle(struct settings *s, const struct rules *rules)
{
    bool lists_programs = false;

    for (size_t i = 0; i < rules->n; i++)
        lists_programs |= rules->items[i].type == ST_RULE_PROCESS && rules->items[i].action == ST_ALLOW;
    /* A list of programs that may run means that no other may. */
    if (!s->exec_default_given)
        s->defaults.exec = lists_programs ? ST_DENY : s->defaults.fs_exec;
    if (!s->dns_default_given)
        s->defaults.dns = s->defaults.egress;
    if (!s->description)
        s->description = "";
}

struct st_policy *st_policy_compile(struct loaded *from)
{
    struct st_policy *p = st_xcalloc(1, sizeof(*p));

    settle(&from->settings, &from->rules);
    atomic_init(&p->refs, 1);
    p->arena = from->arena;
    p->settings = from->settings;
    p->rules = from->rules.items;
    p->n_rules = from->rules.n;
    p->n_files = from->n_files;
    memcpy(p->files, from->files, sizeof(p->files));
    memcpy(p->texts, from->texts, sizeof(p->texts));
    hash_files(from, p->sha256);
    st_policy_build(p);
    return p;
}

int st_policy_with_mode(struct st_policy *policy, enum st_policy_mode mode, struct st_policy **out,
                        struct st_error *err)
{
    struct st_policy *p;

    if (policy->settings.locked && mode == ST_MODE_AUDIT && policy->settings.mode != mode)
        return st_fail(err, EPERM, "policy %s is locked: it can't be put into audit mode from outside; %s",
                       policy->settings.name, "write `locked: false` into it where that is wanted");
    p = st_xmalloc(sizeof(*p));
    memcpy(p, policy, sizeof(*p));
    atomic_init(&p->refs, 1);
    p->parent = st_policy_ref(policy->parent ? policy->parent : policy);
    p->settings.mode = mode;
    *out = p;
    return 0;
}

struct st_policy *st_policy_settle(struct st_policy *policy, bool (*exists)(void *ctx, const char *path),
                                   void *ctx)
{
    struct st_policy *owner = policy->parent ? policy->parent : policy, *p;
    size_t kept = 0;

    p = st_xcalloc(1, sizeof(*p));
    atomic_init(&p->refs, 1);
    p->source = st_policy_ref(owner);
    p->settings = policy->settings;
    p->n_files = owner->n_files;
    memcpy(p->files, owner->files, sizeof(p->files));
    memcpy(p->texts, owner->texts, sizeof(p->texts));
    memcpy(p->sha256, owner->sha256, sizeof(p->sha256));
    p->rules = st_xcalloc(owner->n_rules + 1, sizeof(*p->rules));
    for (size_t i = 0; i < owner->n_rules; i++)
        if (!owner->rules[i].if_exists || exists(ctx, owner->rules[i].if_exists))
            p->rules[kept++] = owner->rules[i];
    p->n_rules = kept;
    st_policy_build(p);
    return p;
}

void st_policy_shed(struct st_policy *policy)
{
    if (policy->source && atomic_load_explicit(&policy->source->refs, memory_order_acquire) == 1)
        st_policy_unbuild_matchers(policy->source);
}

int st_policy_load_in_mode(const char *name_or_path, const struct st_policy_source *source, const char *mode,
                           struct st_policy **out, struct st_diagnostics *diags, struct st_error *err)
{
    st_auto_policy loaded = NULL;
    bool audit = mode && strcmp(mode, "audit") == 0;

    if (mode && !audit && strcmp(mode, "enforce") != 0)
        return st_fail(err, EINVAL, "annotation io.sandtrace.mode: '%.64s' is neither enforce nor audit",
                       mode);
    if (st_policy_load(name_or_path, source, &loaded, diags, err) < 0)
        return st_wrap(err, "policy '%s'", name_or_path);
    if (!mode) {
        *out = st_steal_ptr(&loaded);
        return 0;
    }
    if (st_policy_with_mode(loaded, audit ? ST_MODE_AUDIT : ST_MODE_ENFORCE, out, err) < 0)
        return st_wrap(err, "annotation io.sandtrace.mode");
    return 0;
}

struct st_policy *st_policy_ref(struct st_policy *policy)
{
    atomic_fetch_add_explicit(&policy->refs, 1, memory_order_relaxed);
    return policy;
}

void st_policy_unref(struct st_policy *policy)
{
    if (!policy || atomic_fetch_sub_explicit(&policy->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (policy->parent) {
        st_policy_unref(policy->parent);
    } else {
        st_policy_unbuild(policy);
        free(policy->rules);
        st_arena_free(&policy->arena);
        st_policy_unref(policy->source);
    }
    free(policy);
}

void st_policy_unrefp(struct st_policy **policy)
{
    st_policy_unref(*policy);
    *policy = NULL;
}

const char *st_policy_name(const struct st_policy *policy)
{
    return policy->settings.name;
}

const char *st_policy_description(const struct st_policy *policy)
{
    return policy->settings.description;
}

const char *st_policy_sha256(const struct st_policy *policy)
{
    return policy->sha256;
}

size_t st_policy_files(const struct st_policy *policy, const char *const **files)
{
    *files = policy->files;
    return policy->n_files;
}

struct st_str st_policy_text(const struct st_policy *policy, size_t i)
{
    return i < policy->n_files ? policy->texts[i] : (struct st_str){0};
}

enum st_policy_mode st_policy_mode(const struct st_policy *policy)
{
    return policy->settings.mode;
}

bool st_policy_locked(const struct st_policy *policy)
{
    return policy->settings.locked;
}

size_t st_policy_scope(const struct st_policy *policy, const char *const **dirs)
{
    *dirs = policy->settings.scope;
    return policy->settings.n_scope;
}

enum st_floor st_policy_floor(const struct st_policy *policy)
{
    if (policy->settings.floor_given)
        return policy->settings.floor;
    return policy->settings.mode == ST_MODE_ENFORCE ? ST_FLOOR_MOUNT : ST_FLOOR_OFF;
}

enum st_depth st_policy_depth(const struct st_policy *policy)
{
    return policy->settings.depth;
}

const struct st_process_limits *st_policy_process_limits(const struct st_policy *policy)
{
    return &policy->settings.limits;
}

const struct st_exec_of *st_policy_exec_of(const struct st_policy *policy)
{
    return &policy->settings.exec_of;
}

size_t st_policy_hashes(const struct st_policy *policy)
{
    return policy->hashes.n;
}

bool st_policy_asks_who(const struct st_policy *policy)
{
    return policy->n_generic > 0;
}

const char *st_policy_reserved(size_t i)
{
    static const char *const ids[] = {"process_limits", "exec_of_new", "exec_of_deleted", "exec_of_memfd"};

    return i < N_OF(ids) ? ids[i] : NULL;
}

bool st_policy_reserved_id(const char *id)
{
    for (size_t i = 0; st_policy_reserved(i); i++)
        if (strcmp(st_policy_reserved(i), id) == 0)
            return true;
    return false;
}

enum st_response st_policy_on_violation(const struct st_policy *policy, enum st_severity severity)
{
    return policy->settings.on_violation[severity];
}

const struct st_pause_policy *st_policy_pause(const struct st_policy *policy)
{
    return &policy->settings.pause;
}

int64_t st_policy_fold_ms(const struct st_policy *policy)
{
    return policy->settings.fold_ms;
}

const struct st_policy_defaults *st_policy_defaults(const struct st_policy *policy)
{
    return &policy->settings.defaults;
}

size_t st_policy_rules(const struct st_policy *policy, const struct st_rule **rules)
{
    *rules = policy->rules;
    return policy->n_rules;
}
