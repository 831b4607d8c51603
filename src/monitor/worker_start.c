/* worker_start: opens all that a worker needs while it still may, and writes its first record. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "monitor/confine.h"
#include "monitor/kept.h"
#include "monitor/link.h"
#include "monitor/reach.h"
#include "monitor/worker_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

/* So far a trace that is cut may end beyond what a signature vouches for. */
#define CHECKPOINT_RECORDS 1000

static int open_signer(struct st_worker *w, struct st_error *err)
{
    const struct st_order *o = &w->watch->order;

    if (st_signer_load(o->key_dir, &w->signer, err) == 0)
        return 0;
    if (o->allow_unsigned && err->errnum == ENOENT)
        return 0;
    if (err->errnum == ENOENT)
        return st_fail(err, ENOENT,
                       "no signing key in %s; make one with: sandtrace keygen (or set allow_unsigned: true)",
                       o->key_dir);
    return -err->errnum;
}

/* Is there such a path in the container, as its own processes would find it? */
static bool exists_in_container(void *ctx, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    st_auto_fd fd = (int)syscall(SYS_openat2, *(int *)ctx, path, &how, sizeof(how));

    return fd >= 0;
}

/* Rules that hold only where something is there when the container starts. */
static struct st_policy *settle(struct st_policy *policy, const struct st_order *o)
{
    char root[PATH_MAX + 32];
    st_auto_fd fd = -1;

    snprintf(root, sizeof(root), "/proc/%d/root%s", (int)o->pid, o->rootfs);
    fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? st_policy_ref(policy) : st_policy_settle(policy, exists_in_container, &fd);
}

static int load_policy(const struct st_order *o, struct st_policy **out, struct st_diagnostics *diags,
                       struct st_error *err)
{
    struct st_policy_source src = {.dirs = o->policy_dirs, .n_dirs = o->n_policy_dirs};

    return st_policy_load_in_mode(o->policy, &src, o->mode, out, diags, err);
}

int st_worker_load_policy(const struct st_order *o, struct st_policy **out, struct st_diagnostics *diags,
                          struct st_error *err)
{
    st_auto_policy policy = NULL;

    if (load_policy(o, &policy, diags, err) < 0)
        return -err->errnum;
    *out = settle(policy, o);
    return 0;
}

static int prepare_trace(struct st_worker *w, struct st_error *err)
{
    const struct st_order *o = &w->watch->order;
    struct st_trace_options options = {.path = o->trace_path,
                                       .agent_id = o->agent_id,
                                       .trace_id = o->trace_id,
                                       .signer = w->signer,
                                       .rotate_bytes = o->rotate_bytes,
                                       .checkpoint_records = CHECKPOINT_RECORDS};

    return st_trace_prepare(&options, &w->pipeline.trace, err);
}

static int open_trace(struct st_worker *w, struct st_error *err)
{
    if (st_trace_begin(w->pipeline.trace, err) < 0)
        return -err->errnum;
    w->continued = st_trace_seq(w->pipeline.trace) > 0;
    return 0;
}

/* Of a container that runs already it is known what it can reach. */
static bool is_looked_at(const struct st_worker *w)
{
    return !w->loss && !w->watch->order.light;
}

int st_worker_prepare(struct st_worker *w, struct st_error *err)
{
    const struct st_order *o = &w->watch->order;

    st_worker_scout(w);
    st_processes_init(&w->processes);
    if (open_signer(w, err) < 0 || load_policy(o, &w->pipeline.policy, NULL, err) < 0 ||
        prepare_trace(w, err) < 0)
        return -err->errnum;
    if (!w->loss && !o->light)
        st_processes_prepare(&w->processes,
                             o->listener && st_policy_process_limits(w->pipeline.policy)->before,
                             o->polled_processes);
    w->watch->tree = w->processes.tree;
    st_loop_init(&w->loop, w->watch->worker_epfd, w->watch->pulse);
    if (st_confine_prepare(&w->filter, err) < 0)
        return -err->errnum;
    /* Last: what is given back when the container is met lies at the end, where the next can have its room.
     */
    return is_looked_at(w) ? st_reach_prepare(w->watch, &w->places, err) : 0;
}

int st_worker_write_state(struct st_worker *w, struct st_error *err)
{
    char freezer[PATH_MAX + 8];
    struct st_state s = {.order = &w->watch->order,
                         .warden = w->watch->warden,
                         .worker = getpid(),
                         .status = w->loss ? "unwatched" : "watching",
                         .policy_sha256 = st_policy_sha256(w->pipeline.policy),
                         .freezer = NULL};

    if (w->watch->can_freeze) {
        snprintf(freezer, sizeof(freezer), "%s %s", st_cgroup_kind_name(w->watch->cgroup.kind),
                 w->watch->cgroup.path);
        s.freezer = freezer;
    }
    return st_statedir_write(&w->watch->state, &s, err);
}

/* No container is kept from being watched because nobody can listen: said, and gone on. */
static int record_no_bus(struct st_worker *w, struct st_error *err)
{
    st_auto_buf payload = ST_BUF_INIT;

    st_record_sensor(&payload, "bus", "off", w->bus.off);
    return st_pipeline_note(&w->pipeline, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, false,
                            err);
}

/* An old kernel, or a pid namespace that is not the container's own: said, and gone on. */
static int record_no_memfd(struct st_worker *w, struct st_error *err)
{
    st_auto_buf payload = ST_BUF_INIT;

    st_record_sensor(&payload, "exec_of_memfd", "degraded", w->files.no_memfd.msg);
    return st_pipeline_note(&w->pipeline, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, false,
                            err);
}

static const char *network_state(const struct st_network *n)
{
    if (!n->on)
        return n->failed ? "degraded" : "off";
    return n->share.keeper ? "on" : "joined";
}

/* ---- approvals of earlier runs ---- */

struct recalling {
    struct st_pipeline *pipeline;
    struct st_error err;
};

static void on_recalled(void *ctx, const struct st_decoded *d)
{
    struct recalling *r = ctx;
    char id[ST_EVENT_ID_SIZE];
    st_auto_buf json = ST_BUF_INIT;
    struct st_jw j;

    snprintf(id, sizeof(id), "%.*s", (int)d->event_id.len, d->event_id.p);
    st_jw_init(&j, &json);
    st_jw_object(&j);
    st_jw_kstr(&j, "change", "grant");
    st_jw_kstr(&j, "event_id", id);
    st_jw_kbool(&j, "recalled", true);
    st_jw_kstr(&j, "scope", "trace");
    st_jw_end(&j, '}');
    if (!r->err.errnum && st_pipeline_note(r->pipeline, ST_EV_POLICY_CHANGE, ST_TIER_DERIVED, json.data,
                                           json.len, false, &r->err) == 0)
        st_grants_add(&r->pipeline->grants, &d->ev, id);
}

/* Recorded before anything goes by them. Without them a person is asked again. */
static int recall_approvals(struct st_worker *w, struct st_error *err)
{
    struct recalling r = {.pipeline = &w->pipeline};
    st_auto_buf payload = ST_BUF_INIT;
    struct st_error found = {0};

    if (!w->continued) {
        st_kept_forget(w->watch->order.trace_path);
        return 0;
    }
    st_kept_recall(w->watch->order.trace_path, st_policy_sha256(w->pipeline.policy), on_recalled, &r, &found);
    if (r.err.errnum) {
        *err = r.err;
        return -err->errnum;
    }
    if (!found.errnum || found.errnum == ENOENT)
        return 0;
    st_record_sensor(&payload, "approvals", "degraded", found.msg);
    return st_pipeline_note(&w->pipeline, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, false,
                            err);
}

int st_worker_record_start(struct st_worker *w, struct st_error *err)
{
    st_auto_buf payload = ST_BUF_INIT;
    struct st_policy_facts facts = {.name = st_policy_name(w->pipeline.policy),
                                    .sha256 = st_policy_sha256(w->pipeline.policy),
                                    .mode = st_policy_mode(w->pipeline.policy) == ST_MODE_AUDIT ? "audit"
                                                                                                : "enforce"};

    if (w->loss) {
        st_record_loss(&payload, w->loss, w->watch->order.on_failure == ST_FAIL_KILL ? "kill" : "pause");
        return st_pipeline_note(&w->pipeline, ST_EV_SENSOR, ST_TIER_KERNEL, payload.data, payload.len, true,
                                err);
    }
    st_record_start(
        &payload, w->watch, &facts,
        &(struct st_start_facts){.worker = getpid(),
                                 .reach = w->reach.len ? st_buf_cstr(&w->reach) : NULL,
                                 .files = w->watch->fan >= 0 ? st_buf_cstr(&w->files.watched) : NULL,
                                 .processes = &w->processes,
                                 .network = network_state(&w->network),
                                 .network_detail = w->network.detail});
    if (st_pipeline_note(&w->pipeline, ST_EV_LIFECYCLE, ST_TIER_KERNEL, payload.data, payload.len, true,
                         err) < 0)
        return -err->errnum;
    if (w->bus.off[0] && record_no_bus(w, err) < 0)
        return -err->errnum;
    if (w->files.no_memfd.errnum && record_no_memfd(w, err) < 0)
        return -err->errnum;
    return recall_approvals(w, err);
}

/* An audit goes on without what it can't have; that is said. */
static int open_network(struct st_worker *w, struct st_error *err)
{
    struct st_network *n = &w->network;

    if (w->watch->order.light || !w->watch->order.network.watch) {
        snprintf(n->detail, sizeof(n->detail), "%s",
                 w->watch->order.light ? "a light watch" : "network: false");
        return 0;
    }
    if (st_network_open(n, &w->pipeline, w->watch, err) == 0)
        return n->on ? st_link_send_fd(w->link, ST_LINK_NETWORK, n->rules_fd) : 0;
    if (st_policy_mode(w->pipeline.policy) == ST_MODE_ENFORCE)
        return -err->errnum;
    snprintf(n->detail, sizeof(n->detail), "%.500s", err->msg);
    n->failed = true;
    *err = (struct st_error){0};
    return 0;
}

static int open_files(struct st_worker *w, struct st_mount_tables *mounts, struct st_error *err)
{
    if (w->loss) {
        st_files_take_over(&w->files, &w->pipeline, w->watch);
        return 0;
    }
    if (w->watch->can_freeze)
        return st_files_open(&w->files, &w->pipeline, w->watch, mounts, err);
    /* Without a group of its own it can't be told who belongs to the container. */
    if (st_policy_mode(w->pipeline.policy) != ST_MODE_AUDIT)
        return st_fail(err, EBUSY, "the container's files can't be watched: %s", w->watch->no_freeze);
    st_close(&w->watch->fan);
    return 0;
}

static int open_sensors(struct st_worker *w, struct st_mount_tables *mounts, struct st_error *err)
{
    st_pauses_init(&w->pipeline.pauses, w->watch);
    w->pipeline.counters = st_counters_new(w->pipeline.policy);
    if (st_pipeline_fold(&w->pipeline, err) < 0)
        return -err->errnum;
    st_processes_meet(&w->processes, &w->pipeline, w->watch);
    st_watch_members(w->watch, &w->members);
    if (!w->loss)
        w->pipeline.known = st_process_cache_new(&w->members);
    /* It reads a file of the container's, which nobody could answer for once files are watched. */
    if (w->loss)
        st_network_inherit(&w->network, &w->pipeline, w->watch);
    else if (open_network(w, err) < 0)
        return -err->errnum;
    if (w->watch->fan >= 0 && open_files(w, mounts, err) < 0)
        return -err->errnum;
    w->files.processes = &w->processes;
    /* A new worker can't have the fds of the one that was lost: what they would ask is refused by the kernel.
     */
    if (!w->watch->order.listener || w->loss)
        return 0;
    if (st_mutations_open(&w->mutations, &w->pipeline, w->watch, err) < 0)
        return -err->errnum;
    w->files.filters = w->mutations.notify;
    w->mutations.memfd = w->files.memfd;
    if (st_policy_mode(w->pipeline.policy) == ST_MODE_AUDIT)
        return 0; /* only the boundary is asked about */
    w->files.opened = &w->mutations.opened;
    w->mutations.guards = &w->files.guards;
    w->mutations.depth = &w->files.depth;
    w->mutations.processes = w->processes.tree ? &w->processes : NULL;
    return 0;
}

/* Nothing is mounted while the runtime waits for us: one look at the tables is enough. */
static int check_reach(struct st_worker *w, struct st_mount_tables *mounts, struct st_error *err)
{
    bool enforce = st_policy_mode(w->pipeline.policy) == ST_MODE_ENFORCE, closing;
    int rc;

    if (!is_looked_at(w))
        return 0;
    if (st_mount_tables_read(w->watch->order.pid, mounts, err) < 0)
        return st_wrap(err, "the container's mounts");
    rc = st_reach_check(w->watch, mounts, &w->places, enforce, &w->reach, &closing, err);
    st_places_free(&w->places);
    if (rc < 0)
        return -err->errnum;
    w->files.closing = enforce && closing;
    return 0;
}

static void open_bus(struct st_worker *w)
{
    const struct st_order *o = &w->watch->order;
    const char *slash = strrchr(o->state_dir, '/');
    st_auto_free char *parent = st_xstrndup(o->state_dir, slash ? (size_t)(slash - o->state_dir) : 0);
    struct st_error err = {0};

    if (st_bus_open(&w->bus, *parent ? parent : "/", o->control_gid, o->id, &err) == 0 &&
        st_bus_attach(&w->bus, &w->loop, &err) == 0)
        return;
    snprintf(w->bus.off, sizeof(w->bus.off), "%.255s", err.msg);
}

int st_worker_open(struct st_worker *w, struct st_error *err)
{
    struct st_policy *loaded = w->pipeline.policy;
    st_auto_mount_tables mounts = {0};

    w->pipeline.policy = settle(loaded, &w->watch->order);
    st_policy_unref(loaded);
    st_policy_shed(w->pipeline.policy);
    if (check_reach(w, &mounts, err) < 0 || open_trace(w, err) < 0 || open_sensors(w, &mounts, err) < 0 ||
        st_control_open(&w->control, w->watch->state.dirfd, w->watch->order.control_gid, w->watch->order.id,
                        err) < 0)
        return -err->errnum;
    if (st_worker_write_state(w, err) < 0)
        return -err->errnum;
    open_bus(w); /* readers know us by our state */
    return 0;
}
