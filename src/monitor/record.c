/* record: see record.h. */
#include "monitor/record.h"

#include "base/json_write.h"

#include <string.h>
#include <sys/wait.h>

static void write_sensor(struct st_jw *w, const char *name, const char *kind, const char *state,
                         const char *detail)
{
    st_jw_object(w);
    st_jw_kstr(w, "detail", detail);
    st_jw_kstr(w, "kind", kind);
    st_jw_kstr(w, "name", name);
    st_jw_kstr(w, "state", state);
    st_jw_end(w, '}');
}

/* Without the shim nothing asks us before a change, and nothing holds when we are gone; in audit mode neither
 * is wanted: both would be changes. */
static void write_changes(struct st_jw *w, const struct st_order *order, bool audit)
{
    const char *without = audit ? "audit mode: nothing of the container is changed"
                                : "started without the shim, which prepares the bundle for it";

    if (order->listener && !audit)
        write_sensor(w, "mutations", "seccomp", "on", NULL);
    else
        write_sensor(w, "mutations", "none", audit ? "off" : "degraded", without);
    if (order->landlock_abi)
        write_sensor(w, "floor", "landlock", "on",
                     "mode, owner, times and extended attributes are not held by it: those calls by "
                     "notification alone");
    else if (order->floor)
        write_sensor(w, "floor", "mount", "on", NULL);
    else
        write_sensor(w, "floor", "none", "off", order->listener && !audit ? "floor: off" : without);
}

static void write_syscalls(struct st_jw *w, const struct st_order *order, bool audit)
{
    st_auto_buf left = ST_BUF_INIT;

    for (size_t i = 0; i < order->n_unwatched; i++)
        st_buf_addf(&left, "%s%.60s",
                    i ? ", " : "decided by the profile, by arguments: ", order->unwatched[i]);
    if (order->listener)
        write_sensor(w, "syscalls", "seccomp", left.len ? "degraded" : "on",
                     left.len ? st_buf_cstr(&left) : NULL);
    else
        write_sensor(w, "syscalls", "none", order->light ? "off" : "degraded",
                     order->light ? "a light watch"
                     : audit ? "the profile has a listener of its own, or there was no shim to prepare it"
                             : "started without the shim, which prepares the bundle for it");
}

static void write_processes(struct st_jw *w, const struct st_watch *watch, const struct st_processes *p)
{
    if (p->streaming)
        write_sensor(w, "processes", "bpf", "on", NULL);
    else if (p->tree)
        write_sensor(w, "processes", "polled", "degraded", p->detail);
    else
        write_sensor(w, "processes", "none", "off", watch->order.light ? "a light watch" : NULL);
}

static void write_sensors(struct st_jw *w, const struct st_watch *watch, const struct st_start_facts *facts,
                          bool audit)
{
    const char *files = facts->files;

    st_jw_key(w, "sensors");
    st_jw_array(w);
    if (files)
        write_sensor(w, "files", "fanotify", "on", files);
    else
        write_sensor(w, "files", "none", watch->order.light ? "off" : "degraded",
                     watch->order.light ? "a light watch" : watch->no_freeze);
    write_sensor(w, "freezer", watch->can_freeze ? st_cgroup_kind_name(watch->cgroup.kind) : "none",
                 watch->can_freeze ? "on" : "degraded",
                 watch->can_freeze ? watch->cgroup.path : watch->no_freeze);
    write_sensor(w, "lifecycle", "pidfd", "on", NULL);
    write_changes(w, &watch->order, audit);
    write_sensor(w, "network", strcmp(facts->network, "on") == 0 ? "netfilter" : "none", facts->network,
                 facts->network_detail);
    if (!watch->order.light)
        write_sensor(w, "reach", "mounts", facts->reach ? "degraded" : "on", facts->reach);
    write_processes(w, watch, facts->processes);
    write_syscalls(w, &watch->order, audit);
    st_jw_end(w, ']');
}

void st_record_start(struct st_buf *out, const struct st_watch *watch, const struct st_policy_facts *policy,
                     const struct st_start_facts *facts)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_key(&w, "container");
    st_jw_raw(&w, watch->order.facts, watch->order.facts_len);
    st_jw_kstr(&w, "id", watch->order.id);
    st_jw_kbool(&w, "light", watch->order.light);
    st_jw_key(&w, "monitor");
    st_jw_object(&w);
    st_jw_kstr(&w, "version", PACKAGE_VERSION);
    st_jw_kint(&w, "warden", watch->warden);
    st_jw_kint(&w, "worker", facts->worker);
    st_jw_end(&w, '}');
    st_jw_kstr(&w, "op", "start");
    st_jw_kint(&w, "pid", watch->order.pid);
    st_jw_key(&w, "policy");
    st_jw_object(&w);
    st_jw_kstr(&w, "mode", policy->mode);
    st_jw_kstr(&w, "name", policy->name);
    st_jw_kstr(&w, "sha256", policy->sha256);
    st_jw_end(&w, '}');
    write_sensors(&w, watch, facts, strcmp(policy->mode, "audit") == 0);
    st_jw_end(&w, '}');
}

static void write_totals(struct st_jw *w, const struct st_tree_totals *t)
{
    st_jw_key(w, "processes");
    st_jw_object(w);
    st_jw_kint(w, "forks", (int64_t)t->forks);
    st_jw_kint(w, "most_at_once", t->most_processes);
    st_jw_kint(w, "most_children", t->most_children);
    st_jw_kint(w, "most_depth", t->most_depth);
    st_jw_kint(w, "most_forks_per_second", t->most_forks);
    if (t->untold)
        st_jw_kint(w, "untold", (int64_t)t->untold);
    st_jw_end(w, '}');
}

void st_record_stop(struct st_buf *out, const struct st_stop_facts *facts)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_key(&w, "counts");
    st_jw_object(&w);
    st_jw_kint(&w, "events", (int64_t)facts->events);
    st_jw_kint(&w, "refused", (int64_t)facts->refused);
    st_jw_end(&w, '}');
    st_jw_kint(&w, "duration_ms", facts->duration_ms);
    st_jw_key(&w, "exit_code");
    if (facts->status_known && WIFEXITED(facts->status))
        st_jw_int(&w, WEXITSTATUS(facts->status));
    else
        st_jw_null(&w);
    if (facts->status_known && WIFSIGNALED(facts->status))
        st_jw_kint(&w, "exit_signal", WTERMSIG(facts->status));
    st_jw_kstr(&w, "op", "stop");
    if (facts->processes)
        write_totals(&w, facts->processes);
    st_jw_kstr(&w, "reason", facts->reason);
    if (facts->syscalls) {
        st_jw_key(&w, "syscalls");
        st_syscalls_write(facts->syscalls, &w);
    }
    st_jw_end(&w, '}');
}

void st_record_sensor(struct st_buf *out, const char *name, const char *state, const char *detail)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "detail", detail);
    st_jw_kstr(&w, "name", name);
    st_jw_kstr(&w, "state", state);
    st_jw_end(&w, '}');
}

void st_record_trace_gap(struct st_buf *out, const struct st_trace_gap *gap)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "detail", gap->reason);
    st_jw_kint(&w, "duration_ms", gap->duration_ms);
    st_jw_kstr(&w, "name", "trace");
    st_jw_kint(&w, "not_recorded", (int64_t)gap->not_recorded);
    st_jw_kstr(&w, "state", "restored");
    st_jw_end(&w, '}');
}

void st_record_sink(struct st_buf *out, const struct st_tell_report *r, const char *sink)
{
    static const char *const states[] = {
        [ST_TELL_LOST] = "lost", [ST_TELL_DOWN] = "down", [ST_TELL_UP] = "up"};
    bool known = r && r->state >= ST_TELL_LOST && r->state <= ST_TELL_UP;
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "detail", !r ? "the process that works the sinks has ended" : *r->why ? r->why : NULL);
    if (r && r->lost)
        st_jw_kint(&w, "lost", (int64_t)r->lost);
    st_jw_kstr(&w, "name", "sink");
    st_jw_kstr(&w, "sink", sink);
    st_jw_kstr(&w, "state", known ? states[r->state] : "gone");
    st_jw_end(&w, '}');
}

void st_record_loss(struct st_buf *out, const struct st_loss *loss, const char *then)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "detail", loss->cause);
    st_jw_kint(&w, "freeze_us", loss->freeze_us);
    st_jw_kbool(&w, "frozen", loss->frozen);
    st_jw_kstr(&w, "name", "worker");
    st_jw_kstr(&w, "state", "lost");
    st_jw_kstr(&w, "then", then);
    st_jw_kint(&w, "unwritten", (int64_t)loss->unwritten);
    st_jw_end(&w, '}');
}
