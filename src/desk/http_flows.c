/* http_flows: who talked to whom: the newest events of the network, added up by container, name, port and
 * protocol. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/keyed_hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "desk/desk.h"
#include "desk/http_event_write.h"
#include "desk/http_find.h"

#include <stdio.h>
#include <string.h>

#define NEWEST 5000
#define FLOWS_MAX 1000

struct flow {
    struct st_table_link link;
    char *container, *agent, *name, *protocol;
    int64_t port; /* -1: none */
    int64_t n, blocked, sent, received, last;
};

struct flows {
    struct st_table table;
    struct st_hash_key key;
};

static void flows_free(struct flows *f)
{
    while (f->table.oldest) {
        struct flow *flow = st_table_entry(f->table.oldest, struct flow, link);

        st_table_remove(&f->table, &flow->link);
        free(flow->container);
        free(flow->agent);
        free(flow->name);
        free(flow->protocol);
        free(flow);
    }
}

static const char *text_of(const struct st_json_node *o, const char *key)
{
    return st_json_str(st_json_get(o, key), NULL);
}

static int64_t number_of(const struct st_json_node *o, const char *key, int64_t max, int64_t without)
{
    int64_t n;

    return st_json_int(st_json_get(o, key), &n) && n >= 0 && n <= max ? n : without;
}

/* What is forged may add up to more than fits. */
static void add(int64_t *sum, const struct st_json_node *o, const char *key, int64_t without)
{
    if (__builtin_add_overflow(*sum, number_of(o, key, INT64_MAX, without), sum))
        *sum = INT64_MAX;
}

/* Columns of the row: container, agent, blocked, ts, detail. */
static struct flow *flow_of(struct flows *f, sqlite3_stmt *s, const char *name, const char *protocol,
                            int64_t port)
{
    const char *container = (const char *)sqlite3_column_text(s, 0),
               *agent = (const char *)sqlite3_column_text(s, 1);
    st_auto_free char *all =
        st_xasprintf("%s\n%s\n%s\n%s\n%lld", container, agent, name, protocol, (long long)port);
    uint64_t hash = st_keyed_hash(&f->key, all, strlen(all));
    struct flow *flow;

    for (struct st_table_link *l = st_table_find(&f->table, hash); l; l = st_table_find_next(l)) {
        flow = st_table_entry(l, struct flow, link);
        if (flow->port == port && strcmp(flow->name, name) == 0 && strcmp(flow->container, container) == 0 &&
            strcmp(flow->agent, agent) == 0 && strcmp(flow->protocol, protocol) == 0)
            return flow;
    }
    if (f->table.n >= FLOWS_MAX)
        return NULL;
    flow = st_xcalloc(1, sizeof(*flow));
    flow->container = st_xstrdup(container);
    flow->agent = st_xstrdup(agent);
    flow->name = st_xstrdup(name);
    flow->protocol = st_xstrdup(protocol);
    flow->port = port;
    st_table_add(&f->table, &flow->link, hash);
    return flow;
}

/* By its name where one is known. Who comes in has a port that says nothing, and is known by the address. */
static const char *other_end(const struct st_json_node *o)
{
    static const char *const keys[] = {"dst_host", "dst_ip", "src_host", "src_ip", "name"};
    const char *found = NULL;

    for (size_t i = 0; !found && i < sizeof(keys) / sizeof(keys[0]); i++)
        found = text_of(o, keys[i]);
    return found;
}

/* A connection has a record at its beginning and others later, a question one and its answer another: it is
 * one of them all the same. */
static bool is_first(const struct st_json_node *o)
{
    const char *state = text_of(o, "state");

    return state ? strcmp(state, "attempt") == 0 : !st_json_get(o, "answers");
}

static void take_event(struct flows *f, sqlite3_stmt *s)
{
    struct st_str detail = st_column_str(s, 4);
    st_auto_json doc = NULL;
    const struct st_json_node *o;
    const char *name, *protocol;
    struct flow *flow;

    if (!detail.p || st_json_parse(detail.p, detail.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return;
    o = st_json_root(doc);
    name = other_end(o);
    protocol = text_of(o, "protocol");
    flow = name ? flow_of(f, s, name, protocol ? protocol : "dns", number_of(o, "dst_port", UINT16_MAX, -1))
                : NULL;
    if (!flow)
        return;
    if (is_first(o))
        add(&flow->n, o, "count", 1);
    if (sqlite3_column_int(s, 2))
        add(&flow->blocked, o, "count", 1);
    add(&flow->sent, o, "bytes_sent", 0);
    add(&flow->received, o, "bytes_received", 0);
    if (sqlite3_column_int64(s, 3) > flow->last)
        flow->last = sqlite3_column_int64(s, 3);
}

static void write_flows(const struct flows *f, bool cut, struct st_buf *out)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kbool(&w, "cut", cut);
    st_jw_key(&w, "flows");
    st_jw_array(&w);
    for (struct st_table_link *l = f->table.oldest; l; l = l->newer) {
        const struct flow *flow = st_table_entry(l, const struct flow, link);

        st_jw_object(&w);
        st_jw_kstr(&w, "analysis_id", flow->agent);
        st_jw_kint(&w, "blocked", flow->blocked);
        st_jw_kint(&w, "bytes_received", flow->received);
        st_jw_kint(&w, "bytes_sent", flow->sent);
        st_jw_kstr(&w, "container", flow->container);
        st_jw_ktime(&w, "last", flow->last);
        st_jw_kint(&w, "n", flow->n);
        st_jw_kstr(&w, "name", flow->name);
        st_jw_key(&w, "port");
        if (flow->port >= 0)
            st_jw_int(&w, flow->port);
        else
            st_jw_null(&w);
        st_jw_kstr(&w, "protocol", flow->protocol);
        st_jw_end(&w, '}');
    }
    st_jw_end(&w, ']');
    st_jw_end(&w, '}');
}

static int gather(struct st_db *db, const struct st_find *f, struct flows *flows, bool *cut,
                  struct st_error *err)
{
    st_auto_found found = {0};
    st_auto_stmt s = NULL;
    int rc = st_find_run(db, f, &found, err);

    *cut = found.n == f->limit;
    if (rc == 0)
        rc = st_db_prepare(
            db,
            "SELECT t.container, e.analysis_id, e.blocked, e.ts, e.raw_detail FROM sandbox_audit_event e"
            " JOIN trace t ON t.no = e.trace WHERE e.id = ?1",
            &s, err);
    for (size_t i = 0; rc == 0 && i < found.n; i++) {
        sqlite3_bind_int64(s, 1, found.list[i].id);
        rc = st_db_step(db, s, err);
        if (rc > 0)
            take_event(flows, s);
        rc = rc < 0 ? rc : 0;
        sqlite3_reset(s);
    }
    return rc;
}

void st_answer_flows(struct st_call *c)
{
    static const char *const known[] = {"analysis_id", "container", "since", NULL};
    struct flows flows = {.key = st_hash_key_random()};
    struct st_error err = {0};
    struct st_find f;
    struct st_db *db;
    bool cut;

    if (st_query_only(&c->r->query, known, &err) < 0 ||
        st_find_parse(&c->r->query, st_now_wall_us(), &f, &err) < 0) {
        st_call_bad(c, &err);
        return;
    }
    f.limit = NEWEST;
    f.kind = (struct st_find_list){
        .words = {ST_STR_LIT("network_egress"), ST_STR_LIT("network_ingress"), ST_STR_LIT("dns_query")},
        .n = 3};
    db = st_call_db(c);
    if (!db)
        return;
    if (gather(db, &f, &flows, &cut, &err) < 0) {
        st_call_failed(c, &err);
    } else {
        write_flows(&flows, cut, &c->a->body);
        c->a->status = 200;
    }
    flows_free(&flows);
}
