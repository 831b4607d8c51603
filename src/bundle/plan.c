/* plan: see plan.h. */
#include "bundle/plan.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "bundle/landlock.h"
#include "oci/seccomp_edit.h"
#include "policy/depth.h"
#include "policy/rule.h"

#include <stdio.h>
#include <string.h>

#define CHANGES (ST_ACCESS_WRITE | ST_ACCESS_CREATE | ST_ACCESS_DELETE)

static bool has(const struct st_bundle_list *list, const char *item)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], item) == 0)
            return true;
    return false;
}

static void add(struct st_bundle_list *list, const char *item)
{
    if (has(list, item))
        return;
    list->items = st_xrealloc(list->items, (list->n + 1) * sizeof(*list->items));
    list->items[list->n++] = item;
}

/* ---- syscalls ---- */

static void plan_syscalls(struct st_bundle_plan *plan)
{
    const struct st_rule *rules;
    size_t n = st_policy_rules(plan->policy, &rules);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; rules[i].type == ST_RULE_SYSCALL && k < rules[i].n_names; k++)
            add(&plan->notify, rules[i].names[k]);
}

/* The kernel's own limit stands when all of ours is dead. It counts threads too, of which there may be many
 * more than processes: a backstop, not the limit. */
#define PIDS_A_PROCESS 4
#define PIDS_LEAST 4096

static void plan_limits(struct st_bundle_plan *plan)
{
    const struct st_process_limits *l = st_policy_process_limits(plan->policy);

    plan->forks = l->before;
    if (l->max_processes != ST_UNKNOWN)
        plan->pids =
            l->max_processes * PIDS_A_PROCESS > PIDS_LEAST ? l->max_processes * PIDS_A_PROCESS : PIDS_LEAST;
}

/* ---- paths ---- */

static size_t fixed_length(const char *pattern)
{
    return strcspn(pattern, "*?\\");
}

/* The one path that a pattern stands for, with all below it or not; NULL: it stands for many. */
static const char *one_path(struct st_bundle_plan *plan, const char *pattern)
{
    size_t len = strlen(pattern), fixed = fixed_length(pattern);

    if (fixed == len)
        return pattern;
    if (fixed + 2 == len && fixed > 1 && strcmp(pattern + fixed - 1, "/**") == 0)
        return st_arena_strndup(&plan->strings, pattern, fixed - 1);
    return NULL;
}

static bool may_write(struct st_bundle_plan *plan, struct st_counters *counters, const char *path)
{
    struct st_event ev = {.type = ST_EV_FILESYSTEM,
                          .fs = {.op = ST_FS_OPEN, .access = ST_ACCESS_WRITE, .path = st_str(path)}};
    struct st_verdict v;

    st_policy_eval(plan->policy, counters, &ev, &v);
    return v.result == ST_ALLOW || v.response == ST_RESPOND_RECORD;
}

/* A rule of the first place in a directory of the scope (a pattern that begins with a `**` is taken to mean
 * that one: no mount can be put where nobody knows yet what will be there). */
static void guard_pattern(struct st_bundle_plan *plan, struct st_counters *counters, const char *pattern)
{
    const char *const *scope;
    size_t n = st_policy_scope(plan->policy, &scope);
    const char *path = one_path(plan, pattern);

    if (path && !may_write(plan, counters, path))
        add(&plan->guarded, path);
    if (path || strncmp(pattern, "/**/", 4) != 0 || !(path = one_path(plan, pattern + 3)))
        return;
    for (size_t i = 0; i < n; i++) {
        st_auto_free char *joined = st_xasprintf("%s%s", scope[i], path);

        if (!may_write(plan, counters, joined))
            add(&plan->guarded, st_arena_strndup(&plan->strings, joined, strlen(joined)));
    }
}

static void plan_paths(struct st_bundle_plan *plan)
{
    st_auto_counters counters = st_counters_new(plan->policy);
    const struct st_rule *rules;
    size_t n = st_policy_rules(plan->policy, &rules);

    for (size_t i = 0; i < n; i++) {
        const struct st_rule *r = &rules[i];

        if (r->type != ST_RULE_FILESYSTEM || !r->id || !(r->access & CHANGES))
            continue;
        for (size_t k = 0; k < r->n_paths; k++) {
            const char *path = one_path(plan, r->paths[k]);

            if (r->action != ST_ALLOW)
                guard_pattern(plan, counters, r->paths[k]);
            else if (path && may_write(plan, counters, path))
                add(&plan->also, path);
        }
    }
}

static int check_floor(const struct st_bundle_plan *plan, struct st_error *err)
{
    const char *const *scope;
    size_t n = st_policy_scope(plan->policy, &scope);

    if (plan->floor == ST_FLOOR_OFF)
        return 0;
    if (plan->floor == ST_FLOOR_LANDLOCK && st_bundle_landlock_check(st_policy_name(plan->policy), err) < 0)
        return -err->errnum;
    for (size_t i = 0; i < n; i++)
        if (strchr(scope[i], '\\'))
            return st_fail(
                err, EINVAL,
                "policy '%s': the directory `%s` of the scope can't get a floor; leave the backslash "
                "out, or write `floor: off`",
                st_policy_name(plan->policy), scope[i]);
    return 0;
}

/* ---- all of it ---- */

/* Short, whatever the container is called: the path of a socket has 107 bytes. */
static char *listener_path(const char *state_dir, const char *id)
{
    unsigned char digest[ST_SHA256_SIZE];
    char hex[17];

    st_sha256(id, strlen(id), digest);
    st_hex(digest, 8, hex);
    return st_xasprintf("%s/" ST_NOTIFY_DIR "/%s", state_dir, hex);
}

int st_bundle_plan_make(const struct st_config *config, const struct st_selection *selection, const char *id,
                        struct st_bundle_plan *out, struct st_error *err)
{
    struct st_policy_source source = {.dirs = (const char *const *)config->policy_dirs};
    enum st_depth depth;
    int rc;

    *out = (struct st_bundle_plan){0};
    while (source.dirs[source.n_dirs])
        source.n_dirs++;
    rc = st_policy_load_in_mode(selection->policy, &source, selection->mode, &out->policy, NULL, err);
    if (rc < 0)
        return rc;
    rc = st_depth_choose(out->policy, selection->depth, &depth, err);
    if (rc < 0)
        return st_wrap(err, "annotation io.sandtrace.depth");
    out->enforce = st_policy_mode(out->policy) == ST_MODE_ENFORCE && !selection->light;
    if (selection->light)
        return 0;
    out->listener = listener_path(config->state_dir, id);
    plan_syscalls(out);
    if (!out->enforce)
        return 0;
    out->floor = st_policy_floor(out->policy);
    rc = check_floor(out, err);
    if (rc < 0)
        return rc;
    plan_limits(out);
    plan_paths(out);
    return 0;
}

void st_bundle_plan_free(struct st_bundle_plan *plan)
{
    st_policy_unref(plan->policy);
    free(plan->listener);
    free(plan->notify.items);
    free(plan->also.items);
    free(plan->guarded.items);
    st_arena_free(&plan->strings);
}
