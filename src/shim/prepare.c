/* prepare: see prepare.h. The hook gets what it can't find by itself: which configuration file, and the
 * places that our environment names, because it runs in an environment of its own. */
#include "shim/prepare.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "oci/config_edit.h"
#include "oci/floor_edit.h"
#include "oci/hook_edit.h"
#include "oci/seccomp_edit.h"
#include "oci/select.h"
#include "shim/ahead.h"
#include "shim/plan.h"

#include <limits.h>
#include <string.h>

/* The hook ends by itself at hook_timeout and says why; the runtime's own limit comes after that. */
#define TIMEOUT_MARGIN_S 5

static const char *const inherited[] = {"SANDTRACE_STATE_DIR", "SANDTRACE_LOG_DIR", "SANDTRACE_KEY_DIR",
                                        "SANDTRACE_POLICY_DIR"};
#define N_INHERITED (sizeof(inherited) / sizeof(inherited[0]))

struct hook_env {
    const char *list[N_INHERITED + 2];
    char *made[N_INHERITED];
};

static void free_env(struct hook_env *env)
{
    for (size_t i = 0; i < N_INHERITED; i++)
        free(env->made[i]);
}

static void fill_env(struct hook_env *env)
{
    size_t n = 0;

    env->list[n++] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    for (size_t i = 0; i < N_INHERITED; i++) {
        const char *value = getenv(inherited[i]);

        if (value && *value)
            env->list[n++] = env->made[i] = st_xasprintf("%s=%s", inherited[i], value);
    }
}

/* ---- the hook ---- */

struct hook_args {
    const char *list[20];
    size_t n;
};

static void push(struct hook_args *args, const char *option, const char *value)
{
    if (!value)
        return;
    args->list[args->n++] = option;
    args->list[args->n++] = value;
}

/* What `create` and `await` have in common. */
static void push_order(struct hook_args *args, const struct st_config *config,
                       const struct st_shim_plan *plan, const struct st_buf *floor)
{
    push(args, "--config", config->file);
    push(args, "--listener", plan->listener);
    push(args, ST_OCI_FLOOR_OPTION, floor->len ? st_buf_cstr(floor) : NULL);
}

static int add_hooks(struct st_oci_config *bundle, const struct st_config *config,
                     const struct st_shim_plan *plan, const struct st_buf *floor, const struct hook_env *env,
                     struct st_error *err)
{
    st_auto_free char *standby = st_xasprintf("%s/" ST_AHEAD_DIR, config->state_dir);
    st_auto_free char *timeout = st_xasprintf("%lld", (long long)config->hook_timeout_ms);
    struct hook_args create_args = {.list = {ST_OCI_HOOK_NAME, "create"}, .n = 2};
    struct st_oci_hook create = {.path = config->hook, .args = create_args.list, .env = env->list};

    if (access(config->hook, X_OK) < 0)
        return st_fail_errno(
            err, "hook %s can not be run; install sandtrace, or name it by `hook:` in the configuration",
            config->hook);
    push_order(&create_args, config, plan, floor);
    push(&create_args, "--standby", standby);
    push(&create_args, "--timeout", timeout);
    create.timeout_s = (config->hook_timeout_ms + 999) / 1000 + TIMEOUT_MARGIN_S;
    return st_oci_set_hook(bundle, &create, err);
}

static void start_ahead(const struct st_config *config, const struct st_oci_args *args,
                        const struct st_shim_plan *plan, const struct st_buf *floor,
                        const struct hook_env *env)
{
    struct hook_args list = {.list = {ST_OCI_HOOK_NAME, "await"}, .n = 2};
    char dir[PATH_MAX];

    if (!realpath(args->bundle ? args->bundle : ".", dir))
        return;
    push_order(&list, config, plan, floor);
    push(&list, "--id", args->id);
    push(&list, "--bundle", dir);
    st_shim_start_ahead(config, list.list, env->list);
}

/* ---- the profile and the mounts ---- */

/* A bundle that was run before is put back first: another policy may apply to it now. */
static int undo(struct st_oci_config *bundle, struct st_error *err)
{
    int rc = st_oci_reset_seccomp(bundle, err);

    if (rc == 0)
        rc = st_oci_reset_floor(bundle, st_oci_hook_argument(bundle, ST_OCI_FLOOR_OPTION), err);
    return rc < 0 ? rc : st_oci_config_settle(bundle, err);
}

/* The real path of the container's root, on the host. */
static int find_rootfs(const struct st_oci_config *config, const char *bundle, char out[PATH_MAX],
                       struct st_error *err)
{
    const char *path =
        st_json_str(st_json_get(st_json_get(st_oci_config_root(config), "root"), "path"), NULL);
    st_auto_free char *joined = NULL;

    if (!path)
        return st_fail(err, EINVAL, "config.json names no root.path");
    joined = path[0] == '/' ? st_xstrdup(path) : st_xasprintf("%s/%s", bundle ? bundle : ".", path);
    if (!realpath(joined, out))
        return st_fail_errno(err, "the container's root %s", joined);
    return 0;
}

static int set_floor(struct st_oci_config *bundle, const char *dir, const struct st_shim_plan *plan,
                     struct st_buf *note, struct st_error *err)
{
    char rootfs[PATH_MAX];
    struct st_oci_floor floor = {.rootfs = rootfs,
                                 .also = plan->also.items,
                                 .n_also = plan->also.n,
                                 .guarded = plan->guarded.items,
                                 .n_guarded = plan->guarded.n};

    floor.n_scope = st_policy_scope(plan->policy, &floor.scope);
    if (find_rootfs(bundle, dir, rootfs, err) < 0)
        return -err->errnum;
    return st_oci_set_floor(bundle, &floor, note, err);
}

static int enforce(struct st_oci_config *bundle, const char *dir, const struct st_shim_plan *plan,
                   struct st_buf *note, struct st_error *err)
{
    struct st_oci_seccomp seccomp = {
        .listener = plan->listener, .notify = plan->notify.items, .n_notify = plan->notify.n};

    if (plan->floor && set_floor(bundle, dir, plan, note, err) < 0)
        return -err->errnum;
    return st_oci_set_seccomp(bundle, &seccomp, err);
}

static int modify(struct st_oci_config *bundle, const struct st_config *config,
                  const struct st_oci_args *args, const struct st_selection *selection, struct st_error *err)
{
    __attribute__((cleanup(free_env))) struct hook_env env = {0};
    st_auto_shim_plan plan = {0};
    st_auto_buf note = ST_BUF_INIT;

    if (undo(bundle, err) < 0)
        return -err->errnum;
    if (selection->disabled) {
        st_oci_drop_hooks(bundle);
        return st_oci_config_flush(bundle, err);
    }
    fill_env(&env);
    if (st_shim_plan_make(config, selection, args->id, &plan, err) < 0)
        return -err->errnum;
    if (plan.enforce && enforce(bundle, args->bundle, &plan, &note, err) < 0)
        return -err->errnum;
    if (add_hooks(bundle, config, &plan, &note, &env, err) < 0 || st_oci_config_flush(bundle, err) < 0)
        return -err->errnum;
    start_ahead(config, args, &plan, &note, &env);
    return 0;
}

int st_shim_prepare(const struct st_config *config, const struct st_oci_args *args, struct st_error *err)
{
    const struct st_select_rules rules = {.default_policy = config->default_policy,
                                          .policy_paths = config->policy_paths,
                                          .policy_from_env = config->policy_from_env,
                                          .allow_disable = config->allow_disable,
                                          .light_pods = config->pod_sandbox == ST_POD_SANDBOX_LIGHT};
    struct st_select_input input = {.id = args->id};
    struct st_selection selection;
    st_auto_oci_config bundle = NULL;
    int rc = st_oci_config_load(args->bundle, args->config, &bundle, err);

    if (rc < 0)
        return rc;
    input.annotations = st_json_get(st_oci_config_root(bundle), "annotations");
    input.env = st_json_get(st_json_get(st_oci_config_root(bundle), "process"), "env");
    rc = st_oci_select(&rules, &input, &selection, err);
    if (rc < 0)
        return rc;
    rc = modify(bundle, config, args, &selection, err);
    return rc < 0 ? rc : 0;
}
