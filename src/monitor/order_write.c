/* order_write: see order_write.h. */
#include "monitor/order_write.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "model/event.h"
#include "monitor/snapshot.h"

#include <string.h>

static const char *freezer_name(enum st_freezer_choice choice)
{
    return choice == ST_FREEZER_V1 ? "v1" : choice == ST_FREEZER_V2 ? "v2" : "auto";
}

static void write_dirs(struct st_jw *w, char *const *dirs)
{
    st_jw_key(w, "policy_dirs");
    st_jw_array(w);
    for (; *dirs; dirs++)
        st_jw_str(w, *dirs);
    st_jw_end(w, ']');
}

static void write_sinks(struct st_jw *w, const struct st_config *c)
{
    st_jw_key(w, "sinks");
    st_jw_array(w);
    for (size_t i = 0; i < c->n_sinks; i++) {
        st_jw_object(w);
        st_jw_kbool(w, "refusals", c->sinks[i].refusals);
        st_jw_kstr(w, "to", c->sinks[i].to);
        st_jw_key(w, "types");
        st_jw_array(w);
        for (int type = 0; type < ST_EV_TYPES; type++)
            if (c->sinks[i].types >> type & 1)
                st_jw_str(w, st_event_type_name((enum st_event_type)type));
        st_jw_end(w, ']');
        st_jw_end(w, '}');
    }
    st_jw_end(w, ']');
}

static void write_network(struct st_jw *w, const struct st_order_input *in)
{
    const struct st_config *c = in->config;

    st_jw_key(w, "network");
    st_jw_object(w);
    st_jw_kbool(w, "dead_man", c->dead_man_switch);
    st_jw_kbool(w, "host_by_group", c->host_network == ST_HOST_BY_GROUP);
    st_jw_kbool(w, "inner_names", c->inner_names == ST_LET);
    st_jw_kbool(w, "let_host", c->host_network == ST_HOST_LET);
    st_jw_kbool(w, "let_net_admin", c->net_admin == ST_NET_ADMIN_LET);
    st_jw_kbool(w, "made", in->net_made);
    st_jw_kbool(w, "net_admin", in->net_admin);
    st_jw_kbool(w, "net_raw", in->net_raw);
    st_jw_kbool(w, "outside", in->net_admin && c->net_admin == ST_NET_ADMIN_OUTSIDE);
    st_jw_key(w, "resolvers");
    st_jw_array(w);
    for (char *const *r = c->resolvers; r && *r; r++)
        st_jw_str(w, *r);
    st_jw_end(w, ']');
    st_jw_kbool(w, "watch", c->network);
    st_jw_end(w, '}');
}

static void write_quarantine(struct st_jw *w, const struct st_config *c)
{
    const char *slash = strrchr(c->monitor, '/');
    st_auto_free char *program =
        st_xasprintf("%.*s/" ST_SNAPSHOT_PROGRAM, slash ? (int)(slash - c->monitor) : 0, c->monitor);

    st_jw_key(w, "quarantine");
    st_jw_object(w);
    st_jw_kint(w, "at", c->quarantine_at);
    st_jw_kint(w, "bytes", c->quarantine_max_bytes);
    st_jw_kstr(w, "dir", c->quarantine_dir);
    st_jw_key(w, "on_review");
    st_jw_array(w);
    for (char *const *word = c->on_review; word && *word; word++)
        st_jw_str(w, *word);
    st_jw_end(w, ']');
    st_jw_kstr(w, "program", program);
    st_jw_end(w, '}');
}

/* What it may reach though it is the machine's, and where ours lies. */
static void write_reach(struct st_jw *w, const struct st_order_input *in)
{
    const struct st_config *c = in->config;
    const char *const kept[] = {c->file, c->hook, c->log_dir, c->monitor};

    st_jw_key(w, "reach");
    st_jw_object(w);
    st_jw_key(w, "closing");
    st_jw_raw(w, in->closing->data, in->closing->len);
    st_jw_kstr(w, "devices", in->opening);
    st_jw_key(w, "kept");
    st_jw_array(w);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (kept[i])
            st_jw_str(w, kept[i]);
    for (char *const *dir = c->policy_dirs; *dir; dir++)
        st_jw_str(w, *dir);
    st_jw_end(w, ']');
    st_jw_kbool(w, "let_devices", c->host_devices == ST_LET);
    st_jw_kbool(w, "let_engine", c->engine_socket == ST_LET);
    st_jw_kbool(w, "let_groups", c->cgroup_write == ST_LET);
    st_jw_kbool(w, "let_pids", c->host_pid == ST_LET);
    st_jw_key(w, "secret");
    st_jw_array(w);
    st_jw_str(w, c->key_dir);
    st_jw_str(w, c->quarantine_dir);
    st_jw_str(w, c->state_dir);
    st_jw_end(w, ']');
    st_jw_end(w, '}');
}

void st_order_write(struct st_buf *out, const struct st_order_input *in)
{
    const struct st_config *c = in->config;
    const struct st_selection *sel = in->selection;
    const char *id = in->state->id;
    st_auto_free char *state_dir = st_xasprintf("%s/%s", c->state_dir, id);
    st_auto_free char *trace = st_xasprintf("%s/%s.jsonl", c->log_dir, id);
    char now[ST_RFC3339_SIZE];
    st_auto_free char *trace_id = NULL;
    struct st_jw w;

    st_format_rfc3339(st_now_wall_us(), now);
    trace_id = st_xasprintf("%s@%s", id, now);
    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "agent_id", sel->agent_id ? sel->agent_id : id);
    st_jw_kbool(&w, "allow_unsigned", c->allow_unsigned);
    st_jw_kint(&w, "control_gid", in->control_gid);
    st_jw_kstr(&w, "depth", sel->depth);
    st_jw_key(&w, "facts");
    st_jw_raw(&w, in->facts->data, in->facts->len);
    if (in->floor) {
        st_jw_key(&w, "floor");
        st_jw_raw(&w, in->floor, strlen(in->floor));
    }
    st_jw_kstr(&w, "freezer", freezer_name(c->freezer));
    st_jw_kstr(&w, "id", id);
    st_jw_kstr(&w, "key_dir", c->key_dir);
    st_jw_kbool(&w, "light", sel->light);
    st_jw_kstr(&w, "listener", in->listener);
    st_jw_kint(&w, "listener_fd", in->listener_fd);
    st_jw_kstr(&w, "mode", sel->mode);
    write_network(&w, in);
    st_jw_kstr(&w, "on_trace_failure", c->on_trace_failure == ST_TRACE_FAILURE_KILL ? "kill" : "pause");
    st_jw_kstr(&w, "on_worker_failure", c->on_worker_failure == ST_WORKER_FAILURE_PAUSE ? "pause" : "kill");
    st_jw_kint(&w, "pid", in->state->pid);
    st_jw_kstr(&w, "policy", sel->policy);
    write_dirs(&w, c->policy_dirs);
    st_jw_kbool(&w, "polled_processes", c->process_events == ST_PROCESSES_POLLED);
    st_jw_key(&w, "profile");
    st_jw_raw(&w, in->profile->data, in->profile->len);
    write_quarantine(&w, c);
    write_reach(&w, in);
    st_jw_kstr(&w, "rootfs", in->rootfs);
    st_jw_kint(&w, "rotate_bytes", c->trace_rotate);
    write_sinks(&w, c);
    st_jw_kstr(&w, "state_dir", state_dir);
    st_jw_kstr(&w, "trace", trace);
    st_jw_kstr(&w, "trace_id", sel->trace_id ? sel->trace_id : trace_id);
    st_jw_kint(&w, "worker_grace_ms", c->worker_grace_ms);
    st_jw_end(&w, '}');
}
