/* order: see order.h. */
#include "monitor/order.h"

#include "base/mem.h"
#include "model/event.h"
#include "monitor/busdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *string_of(const struct st_json_node *root, const char *key, bool needed,
                             struct st_error *err)
{
    const char *s = st_json_str(st_json_get(root, key), NULL);

    if (!s && needed)
        st_fail(err, EINVAL, "order to the monitor: '%s' is missing", key);
    return s;
}

static int64_t integer_of(const struct st_json_node *root, const char *key, int64_t otherwise)
{
    int64_t n;

    return st_json_int(st_json_get(root, key), &n) ? n : otherwise;
}

/* Append the texts of a list. */
static void read_list(const struct st_json_node *list, const char ***out, size_t *n)
{
    *out = st_xrealloc(*out, (*n + st_json_count(list) + 1) * sizeof(**out));
    st_json_each (item, list) {
        const char *s = st_json_str(item, NULL);

        if (s)
            (*out)[(*n)++] = s;
    }
}

static void read_floor(const struct st_json_node *floor, struct st_order *o)
{
    o->floor = st_json_is(floor, ST_JSON_OBJECT);
    o->floor_root = st_json_true(st_json_get(floor, "root"));
    read_list(st_json_get(floor, "readonly"), &o->floor_points, &o->n_floor_points);
    read_list(st_json_get(floor, "guarded"), &o->floor_points, &o->n_floor_points);
    o->landlock_abi = integer_of(floor, "abi", 0);
    read_list(st_json_get(floor, "landlock"), &o->landlock_rules, &o->n_landlock_rules);
}

static void read_network(const struct st_json_node *network, struct st_order_network *out)
{
    out->watch = st_json_true(st_json_get(network, "watch"));
    out->dead_man = st_json_true(st_json_get(network, "dead_man"));
    out->host_by_group = st_json_true(st_json_get(network, "host_by_group"));
    out->let_host = st_json_true(st_json_get(network, "let_host"));
    out->let_net_admin = st_json_true(st_json_get(network, "let_net_admin"));
    out->inner_names = st_json_true(st_json_get(network, "inner_names"));
    out->net_raw = st_json_true(st_json_get(network, "net_raw"));
    out->net_admin = st_json_true(st_json_get(network, "net_admin"));
    out->outside = st_json_true(st_json_get(network, "outside"));
    out->made = st_json_true(st_json_get(network, "made"));
    read_list(st_json_get(network, "resolvers"), &out->resolvers, &out->n_resolvers);
}

static const char **read_places(const struct st_json_node *list)
{
    const char **places = NULL;
    size_t n = 0;

    read_list(list, &places, &n);
    places[n] = NULL;
    return places;
}

static void read_reach(const struct st_json_node *reach, struct st_order_reach *out)
{
    out->devices = st_json_str(st_json_get(reach, "devices"), NULL);
    out->closing = read_places(st_json_get(reach, "closing"));
    out->secret = read_places(st_json_get(reach, "secret"));
    out->kept = read_places(st_json_get(reach, "kept"));
    out->let_pids = st_json_true(st_json_get(reach, "let_pids"));
    out->let_groups = st_json_true(st_json_get(reach, "let_groups"));
    out->let_engine = st_json_true(st_json_get(reach, "let_engine"));
    out->let_devices = st_json_true(st_json_get(reach, "let_devices"));
}

static void read_quarantine(const struct st_json_node *node, struct st_order_quarantine *out)
{
    out->at = integer_of(node, "at", 0);
    out->bytes = integer_of(node, "bytes", 0);
    out->dir = string_of(node, "dir", false, NULL);
    out->program = string_of(node, "program", false, NULL);
    out->on_review = read_places(st_json_get(node, "on_review"));
}

static int read_errno(const struct st_json_node *item, int *out, struct st_error *err)
{
    *out = (int)integer_of(item, "errno", 0);
    return *out > 0 && *out < 4096 ? 0 : st_fail(err, EINVAL, "order to the monitor: the errno of a refusal");
}

static int read_profile(const struct st_json_node *profile, struct st_order *o, struct st_error *err)
{
    const struct st_json_node *calls = st_json_get(profile, "refused"),
                              *sockets = st_json_get(profile, "sockets");

    read_list(st_json_get(profile, "unwatched"), &o->unwatched, &o->n_unwatched);
    o->refused = st_xcalloc(st_json_count(calls) + 1, sizeof(*o->refused));
    st_json_each (item, calls) {
        struct st_order_refusal *r = &o->refused[o->n_refused++];

        r->name = string_of(item, "name", true, err);
        r->flags = (uint64_t)integer_of(item, "flags", 0);
        if (!r->name || read_errno(item, &r->error, err) < 0)
            return -err->errnum;
    }
    o->sockets = st_xcalloc(st_json_count(sockets) + 1, sizeof(*o->sockets));
    st_json_each (item, sockets) {
        struct st_order_socket *s = &o->sockets[o->n_sockets++];

        s->family = integer_of(item, "family", -1);
        s->protocol = integer_of(item, "protocol", -1);
        if (read_errno(item, &s->error, err) < 0)
            return -err->errnum;
    }
    return 0;
}

static int read_types(const struct st_json_node *list, uint32_t *out, struct st_error *err)
{
    st_json_each (item, list) {
        const char *name = st_json_str(item, NULL);
        int type = name ? st_event_type_by_name(st_str(name)) : -1;

        if (type < 0)
            return st_fail(err, EINVAL, "order to the monitor: a sink's type of event");
        *out |= 1u << type;
    }
    return 0;
}

static int read_sinks(const struct st_json_node *list, struct st_order *o, struct st_error *err)
{
    o->sinks = st_xcalloc(st_json_count(list) + 1, sizeof(*o->sinks));
    st_json_each (item, list) {
        struct st_order_sink *sink = &o->sinks[o->n_sinks++];

        sink->to = string_of(item, "to", true, err);
        sink->refusals = st_json_true(st_json_get(item, "refusals"));
        if (!sink->to || read_types(st_json_get(item, "types"), &sink->types, err) < 0)
            return -err->errnum;
    }
    return 0;
}

static int read_members(const struct st_json_node *root, struct st_order *o, struct st_error *err)
{
    const struct st_json_node *facts = st_json_get(root, "facts");
    const char *on_failure = string_of(root, "on_worker_failure", false, err);
    const char *on_trace_failure = string_of(root, "on_trace_failure", false, err);

    if (!(o->id = string_of(root, "id", true, err)) ||
        !(o->state_dir = string_of(root, "state_dir", true, err)) ||
        !(o->trace_path = string_of(root, "trace", true, err)) ||
        !(o->rootfs = string_of(root, "rootfs", true, err)) ||
        !(o->key_dir = string_of(root, "key_dir", true, err)) ||
        !(o->policy = string_of(root, "policy", true, err)) ||
        !(o->agent_id = string_of(root, "agent_id", true, err)) ||
        !(o->trace_id = string_of(root, "trace_id", true, err)))
        return -err->errnum;
    o->pid = (pid_t)integer_of(root, "pid", 0);
    /* Beside the containers' directories lies that of the event bus. */
    if (strcmp(o->id, ST_BUS_DIR) == 0 || o->id[0] == '.')
        return st_fail(err, EINVAL, "a container can't have the ID %.100s; choose another", o->id);
    if (o->pid < 0)
        return st_fail(err, EINVAL, "order to the monitor: no process");
    if (!st_json_is(facts, ST_JSON_OBJECT))
        return st_fail(err, EINVAL, "order to the monitor: no facts");
    size_t start, end;

    st_json_span(facts, &start, &end);
    o->facts = o->text + start;
    o->facts_len = end - start;
    read_list(st_json_get(root, "policy_dirs"), &o->policy_dirs, &o->n_policy_dirs);
    read_floor(st_json_get(root, "floor"), o);
    read_network(st_json_get(root, "network"), &o->network);
    read_reach(st_json_get(root, "reach"), &o->reach);
    read_quarantine(st_json_get(root, "quarantine"), &o->quarantine);
    if (read_profile(st_json_get(root, "profile"), o, err) < 0 ||
        read_sinks(st_json_get(root, "sinks"), o, err) < 0)
        return -err->errnum;
    o->listener = string_of(root, "listener", false, err);
    o->listener_fd = o->listener ? (int)integer_of(root, "listener_fd", -1) : -1;
    o->mode = string_of(root, "mode", false, err);
    o->depth = string_of(root, "depth", false, err);
    o->freezer = string_of(root, "freezer", false, err);
    if (!o->freezer)
        o->freezer = "auto";
    o->polled_processes = st_json_true(st_json_get(root, "polled_processes"));
    o->control_gid = integer_of(root, "control_gid", -1);
    o->worker_grace_ns = integer_of(root, "worker_grace_ms", 5000) * 1000000;
    o->on_failure = on_failure && strcmp(on_failure, "pause") == 0 ? ST_FAIL_PAUSE : ST_FAIL_KILL;
    o->on_trace_failure =
        on_trace_failure && strcmp(on_trace_failure, "kill") == 0 ? ST_FAIL_KILL : ST_FAIL_PAUSE;
    o->rotate_bytes = (uint64_t)integer_of(root, "rotate_bytes", 0);
    o->allow_unsigned = st_json_true(st_json_get(root, "allow_unsigned"));
    o->light = st_json_true(st_json_get(root, "light"));
    return 0;
}

int st_order_parse(const char *text, size_t len, struct st_order *out, struct st_error *err)
{
    *out = (struct st_order){.text = st_xmalloc(len + 1)};
    memcpy(out->text, text, len);
    out->text[len] = '\0';
    if (st_json_parse(out->text, len, ST_JSON_DEFAULT_LIMITS, &out->doc, err) < 0) {
        st_order_free(out);
        return st_wrap(err, "order to the monitor");
    }
    if (read_members(st_json_root(out->doc), out, err) < 0) {
        st_order_free(out);
        return -err->errnum;
    }
    return 0;
}

void st_order_free(struct st_order *o)
{
    free(o->policy_dirs);
    free(o->floor_points);
    free(o->landlock_rules);
    free(o->sinks);
    free(o->refused);
    free(o->sockets);
    free(o->unwatched);
    free(o->network.resolvers);
    free(o->reach.closing);
    free(o->reach.secret);
    free(o->reach.kept);
    free(o->quarantine.on_review);
    st_json_free(o->doc);
    free(o->text);
    *o = (struct st_order){0};
}
