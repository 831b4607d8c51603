/* edit: see edit.h. The hook gets what it can't find by itself: which configuration file, and the places that
 * our environment names, because it runs in an environment of its own. */
#include "bundle/edit.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "bundle/find.h"
#include "bundle/landlock.h"
#include "oci/floor_edit.h"
#include "oci/hook_edit.h"
#include "oci/openings.h"
#include "oci/pids_edit.h"
#include "oci/seccomp_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The hook ends by itself at hook_timeout and says why; the runtime's own limit comes after that. */
#define TIMEOUT_MARGIN_S 5
#define KNOCKER "sandtrace-knock"

static const char *const inherited[] = {"SANDTRACE_STATE_DIR", "SANDTRACE_LOG_DIR", "SANDTRACE_KEY_DIR",
                                        "SANDTRACE_POLICY_DIR", "SANDTRACE_QUARANTINE_DIR"};
#define N_INHERITED (sizeof(inherited) / sizeof(inherited[0]))
_Static_assert(N_INHERITED + 2 <= ST_HOOK_ENV_MAX, "PATH, those, and the end");

static void fill_env(struct st_bundle_edit *e)
{
    size_t n = 0;

    e->env[n++] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    for (size_t i = 0; i < N_INHERITED; i++) {
        const char *value = getenv(inherited[i]);

        if (value && *value)
            e->env[n++] = e->made[i] = st_xasprintf("%s=%s", inherited[i], value);
    }
}

void st_bundle_edit_end(struct st_bundle_edit *e)
{
    for (size_t i = 0; i < ST_HOOK_ENV_MAX; i++)
        free(e->made[i]);
    st_bundle_plan_free(&e->plan);
    st_buf_free(&e->floor);
    st_buf_free(&e->closed);
    st_buf_free(&e->pids);
}

/* ---- the hook ---- */

void st_hook_push(struct st_hook_args *args, const char *option, const char *value)
{
    if (!value)
        return;
    args->list[args->n++] = option;
    args->list[args->n++] = value;
}

void st_hook_push_order(struct st_hook_args *args, const struct st_config *config,
                        const struct st_bundle_edit *e)
{
    st_hook_push(args, "--config", config->file);
    st_hook_push(args, "--listener", e->plan.listener);
    st_hook_push(args, ST_OCI_CLOSED_OPTION, e->closed.len ? st_buf_cstr(&e->closed) : NULL);
    st_hook_push(args, ST_OCI_FLOOR_OPTION, e->floor.len ? st_buf_cstr(&e->floor) : NULL);
    st_hook_push(args, ST_OCI_PIDS_OPTION, e->pids.len ? st_buf_cstr(&e->pids) : NULL);
}

/* What tells a monitor that waits is quicker than the hook, which lies beside it and which it runs where
 * there is more to do. NULL: not installed. */
static char *find_knocker(const char *hook)
{
    const char *slash = strrchr(hook, '/');
    st_auto_free char *path = NULL;

    if (!slash || strcmp(slash + 1, ST_OCI_HOOK_NAME) != 0)
        return NULL;
    path = st_xasprintf("%.*s/" KNOCKER, (int)(slash - hook), hook);
    return access(path, X_OK) == 0 ? st_steal_ptr(&path) : NULL;
}

static int add_hooks(struct st_oci_config *bundle, const struct st_config *config, const char *standby,
                     const struct st_bundle_edit *e, struct st_error *err)
{
    st_auto_free char *timeout = st_xasprintf("%lld", (long long)config->hook_timeout_ms);
    st_auto_free char *knocker = standby ? find_knocker(config->hook) : NULL;
    struct st_hook_args create_args = {.list = {ST_OCI_HOOK_NAME, "create"}, .n = 2};
    struct st_hook_args poststop_args = {.list = {ST_OCI_HOOK_NAME, "poststop"}, .n = 2};
    struct st_oci_hook create = {
        .path = knocker ? knocker : config->hook, .args = create_args.list, .env = e->env};
    struct st_oci_hook poststop = {.path = config->hook, .args = poststop_args.list, .env = e->env};

    if (access(config->hook, X_OK) < 0)
        return st_fail_errno(
            err, "hook %s can not be run; install sandtrace, or name it by `hook:` in the configuration",
            config->hook);
    st_hook_push_order(&create_args, config, e);
    st_hook_push(&create_args, "--standby", standby);
    st_hook_push(&create_args, "--timeout", standby ? timeout : NULL);
    st_hook_push(&poststop_args, "--config", config->file);
    create.timeout_s = (config->hook_timeout_ms + 999) / 1000 + TIMEOUT_MARGIN_S;
    return st_oci_set_hooks(bundle, &create, standby ? NULL : &poststop, err);
}

/* ---- the profile and the mounts ---- */

/* A bundle that was run before is put back first: another policy may apply to it now. */
static int undo(struct st_oci_config *bundle, struct st_error *err)
{
    int rc = st_oci_reset_seccomp(bundle, err);

    st_oci_reset_settings(bundle, st_oci_hook_argument(bundle, ST_OCI_CLOSED_OPTION));
    if (rc == 0)
        rc = st_oci_reset_floor(bundle, st_oci_hook_argument(bundle, ST_OCI_FLOOR_OPTION), err);
    if (rc == 0)
        st_oci_reset_pids(bundle, st_oci_hook_argument(bundle, ST_OCI_PIDS_OPTION));
    return rc < 0 ? rc : st_oci_config_settle(bundle, err);
}

static int set_floor(struct st_oci_config *bundle, const struct st_bundle_source *source,
                     struct st_bundle_edit *e, struct st_error *err)
{
    char rootfs[PATH_MAX];
    struct st_oci_floor floor = {.rootfs = rootfs,
                                 .also = e->plan.also.items,
                                 .n_also = e->plan.also.n,
                                 .guarded = e->plan.guarded.items,
                                 .n_guarded = e->plan.guarded.n,
                                 .helper = e->landlock ? source->helper : 0,
                                 .abi = e->landlock ? st_bundle_landlock_abi() : 0};

    floor.n_scope = st_policy_scope(e->plan.policy, &floor.scope);
    if (st_bundle_rootfs(bundle, source->dir, rootfs, err) < 0)
        return -err->errnum;
    return st_oci_set_floor(bundle, &floor, &e->floor, err);
}

/* Has it no namespace of this kind of its own, or is it given ours? link: in /proc/self/ns. */
static bool shares_our(const struct st_oci_config *bundle, const char *kind, const char *link)
{
    const struct st_json_node *all =
        st_json_get(st_json_get(st_oci_config_root(bundle), "linux"), "namespaces");
    struct stat own, theirs;

    st_json_each (ns, all) {
        const char *type = st_json_str(st_json_get(ns, "type"), NULL);
        const char *path = st_json_str(st_json_get(ns, "path"), NULL);

        if (type && strcmp(type, kind) == 0)
            return path && path[0] && stat(link, &own) == 0 && stat(path, &theirs) == 0 &&
                   own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino;
    }
    return true;
}

/* The monitor finds it by itself; but a runtime that has made such a container and must undo it has so much
 * to say that engines show something else. */
static int check_pids(const struct st_oci_config *bundle, const struct st_config *config,
                      struct st_error *err)
{
    if (config->host_pid == ST_LET || !shares_our(bundle, "pid", "/proc/self/ns/pid"))
        return 0;
    return st_fail(err, EPERM,
                   "the container shares the host's pid namespace, where it could find and signal the "
                   "processes that watch it; give it one of its own, or set host_pid: allow");
}

/* A limit that nobody can set would keep the container from starting: is there who counts tasks, where
 * runtimes look? */
static bool tasks_are_counted(void)
{
    char text[4096];
    struct statfs fs;

    if (statfs("/sys/fs/cgroup", &fs) < 0)
        return false;
    if (fs.f_type != CGROUP2_SUPER_MAGIC)
        return access("/sys/fs/cgroup/pids/cgroup.procs", F_OK) == 0;
    if (st_read_small_at(AT_FDCWD, "/sys/fs/cgroup/cgroup.controllers", text, sizeof(text)) < 0)
        return false;
    for (const char *word = text; *word; word += strcspn(word, " \n"), word += *word != '\0')
        if (strcspn(word, " \n") == 4 && strncmp(word, "pids", 4) == 0)
            return true;
    return false;
}

static int enforce(struct st_oci_config *bundle, const struct st_bundle_source *source,
                   struct st_bundle_edit *e, struct st_error *err)
{
    static const char *const laying[] = {"landlock_create_ruleset", "landlock_add_rule",
                                         "landlock_restrict_self"};
    struct st_oci_seccomp seccomp = {.listener = e->plan.listener,
                                     .notify = e->plan.notify.items,
                                     .n_notify = e->plan.notify.n,
                                     .forks = e->plan.forks};

    e->landlock = e->plan.floor == ST_FLOOR_LANDLOCK;
    if (e->landlock && !source->helper)
        return st_fail(err, EOPNOTSUPP, "policy '%s': `floor: landlock`, but %s; write `floor: mount`",
                       st_policy_name(e->plan.policy), source->no_helper);
    if (e->landlock) {
        seccomp.permit = laying;
        seccomp.n_permit = sizeof(laying) / sizeof(laying[0]);
    }
    if (e->plan.floor != ST_FLOOR_OFF && set_floor(bundle, source, e, err) < 0)
        return -err->errnum;
    if (e->plan.pids && tasks_are_counted() && st_oci_set_pids(bundle, e->plan.pids, &e->pids, err) < 0)
        return -err->errnum;
    return st_oci_set_seccomp(bundle, &seccomp, err);
}

/* An audit changes nothing: where the profile has a listener of its own it goes without ours. */
static int observe(struct st_oci_config *bundle, struct st_bundle_edit *e, struct st_error *err)
{
    const struct st_oci_seccomp seccomp = {.listener = e->plan.listener,
                                           .notify = e->plan.notify.items,
                                           .n_notify = e->plan.notify.n,
                                           .observe = true};

    if (!e->plan.listener)
        return 0;
    if (st_oci_set_seccomp(bundle, &seccomp, err) == 0)
        return 0;
    if (err->errnum != EBUSY)
        return -err->errnum;
    *err = (struct st_error){0};
    free(e->plan.listener);
    e->plan.listener = NULL;
    return 0;
}

int st_bundle_edit(struct st_oci_config *bundle, const struct st_config *config,
                   const struct st_bundle_source *source, struct st_bundle_edit *out, struct st_error *err)
{
    struct st_selection selection;

    *out = (struct st_bundle_edit){.floor = ST_BUF_INIT, .closed = ST_BUF_INIT, .pids = ST_BUF_INIT};
    /* In this order: the selection points into what undo may write anew. */
    if (undo(bundle, err) < 0 || st_bundle_select(config, bundle, source->id, &selection, err) < 0)
        return -err->errnum;
    if (selection.disabled) {
        st_oci_drop_hooks(bundle);
        return 0;
    }
    fill_env(out);
    if (st_bundle_plan_make(config, &selection, source->key, &out->plan, err) < 0)
        return -err->errnum;
    if (out->plan.enforce && check_pids(bundle, config, err) < 0)
        return -err->errnum;
    if (out->plan.enforce && config->host_devices == ST_REFUSE &&
        st_oci_close_settings(bundle, &out->closed, err) < 0)
        return -err->errnum;
    if ((out->plan.enforce ? enforce(bundle, source, out, err) : observe(bundle, out, err)) < 0)
        return -err->errnum;
    out->watched = true;
    return add_hooks(bundle, config, source->standby, out, err);
}
