/* http_containers: the containers of this host: those that run, by their monitors, and those that ended, by
 * what the database keeps of their traces. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/http_event_write.h"
#include "desk/http_live.h"
#include "desk/http_reviews.h"

#include <errno.h>
#include <string.h>

#define TRACES_MAX "1000"

#define TRACE_SELECT                                                                                         \
    "SELECT t.container, t.name, t.state, t.chain, t.records, t.signed_seq, t.issues,"                       \
    " (SELECT analysis_id FROM class c WHERE c.trace = t.no ORDER BY n DESC LIMIT 1),"                       \
    " (SELECT coalesce(sum(n), 0) FROM class c WHERE c.trace = t.no),"                                       \
    " (SELECT coalesce(sum(n), 0) FROM class c WHERE c.trace = t.no AND result <> 'allow')"                  \
    " FROM trace t "

struct list {
    struct st_call *c;
    struct st_buf ids; /* of those that run */
    size_t n_ids;
    struct st_reviews reviews;
};

static bool runs(const struct list *l, const char *id)
{
    const char *at = l->ids.data;

    for (size_t i = 0; i < l->n_ids; i++, at += strlen(at) + 1)
        if (strcmp(at, id) == 0)
            return true;
    return false;
}

static void put_trace(struct st_jw *w, sqlite3_stmt *s)
{
    st_jw_key(w, "trace");
    if (!s) {
        st_jw_null(w);
        return;
    }
    st_jw_object(w);
    st_jw_ktext(w, "chain", st_column_str(s, 3));
    st_jw_kint(w, "issues", sqlite3_column_int64(s, 6));
    st_jw_ktext(w, "name", st_column_str(s, 1));
    st_jw_kint(w, "records", sqlite3_column_int64(s, 4));
    st_jw_kint(w, "signed_seq", sqlite3_column_int64(s, 5));
    st_jw_ktext(w, "state", st_column_str(s, 2));
    st_jw_end(w, '}');
}

/* id: of a container; s: its row, or NULL where the index does not know it yet. */
static void put_container(struct st_jw *w, struct list *l, const char *id, sqlite3_stmt *s)
{
    const struct st_live *live = l->c->desk->live;
    st_auto_live_answer status = {0}, state = {0};
    struct st_error err = {0};
    bool running = runs(l, id), told = running && st_live_ask_plain(live, id, "status", &status, &err) == 0 &&
                                       st_json_true(st_json_get(status.root, "ok"));
    const char *agent = running && st_live_state(live, id, &state)
                            ? st_json_str(st_json_get(state.root, "agent_id"), NULL)
                            : NULL;

    st_jw_object(w);
    st_jw_ktext(w, "analysis_id", agent ? st_str(agent) : s ? st_column_str(s, 7) : st_str(id));
    if (s) {
        st_jw_kint(w, "events",
                   sqlite3_column_int64(s, 8)); /* of its trace; the monitor counts one run alone */
    } else {
        st_live_copy(w, "events", &status, st_json_get(status.root, "events"));
    }
    st_live_copy(w, "frozen", &status, st_json_get(status.root, "frozen"));
    st_jw_kstr(w, "id", id);
    st_live_copy(w, "pending", &status, st_json_get(status.root, "pending"));
    st_live_copy(w, "pid", &status, st_json_get(status.root, "pid"));
    st_live_copy(w, "policy", told ? &status : &state,
                 st_json_get(told ? status.root : state.root, "policy"));
    st_live_copy(w, "policy_sha256", told ? &status : &state,
                 st_json_get(told ? status.root : state.root, "policy_sha256"));
    st_review_put(w, &l->reviews, id);
    if (s)
        st_jw_kint(w, "refused", sqlite3_column_int64(s, 9));
    else
        st_live_copy(w, "refused", &status, st_json_get(status.root, "refused"));
    st_review_put_id(w, &l->reviews, id);
    if (told)
        st_live_copy(w, "status", &status, st_json_get(status.root, "status"));
    else
        st_jw_kstr(w, "status", running ? "unwatched" : "ended");
    put_trace(w, s);
    st_live_copy(w, "uptime_ms", &status, st_json_get(status.root, "uptime_ms"));
    st_jw_end(w, '}');
}

static int begin(struct list *l, struct st_call *c, struct st_error *err)
{
    *l = (struct list){.c = c};
    st_reviews_of(c->desk, &l->reviews);
    return c->desk->live->list(c->desk->live->ctx, &l->ids, &l->n_ids, err);
}

static void end(struct list *l)
{
    st_buf_free(&l->ids);
    st_reviews_free(&l->reviews);
}

static sqlite3_stmt *row_of(struct st_db *db, sqlite3_stmt *s, const char *id)
{
    struct st_error err = {0};

    sqlite3_reset(s);
    st_bind_str(s, 1, st_str(id));
    return st_db_step(db, s, &err) > 0 ? s : NULL;
}

static int write_all(struct list *l, struct st_db *db, struct st_error *err)
{
    st_auto_stmt ended = NULL;
    st_auto_stmt one = NULL;
    const char *id = l->ids.data;
    struct st_jw w;
    int rc = st_db_prepare(db, TRACE_SELECT "ORDER BY t.updated DESC LIMIT " TRACES_MAX, &ended, err);

    if (rc == 0)
        rc = st_db_prepare(db, TRACE_SELECT "WHERE t.container = ?1 ORDER BY t.updated DESC LIMIT 1", &one,
                           err);
    st_jw_init(&w, &l->c->a->body);
    st_jw_object(&w);
    st_jw_key(&w, "containers");
    st_jw_array(&w);
    for (size_t i = 0; rc == 0 && i < l->n_ids; i++, id += strlen(id) + 1)
        put_container(&w, l, id, row_of(db, one, id));
    while (rc == 0 && (rc = st_db_step(db, ended, err)) > 0) {
        const char *container = (const char *)sqlite3_column_text(ended, 0);

        if (container && !runs(l, container))
            put_container(&w, l, container, ended);
        rc = 0;
    }
    st_jw_end(&w, ']');
    st_jw_end(&w, '}');
    return rc;
}

void st_answer_containers(struct st_call *c)
{
    struct st_error err = {0};
    struct st_db *db = st_call_db(c);
    struct list l;

    if (!db)
        return;
    if (begin(&l, c, &err) < 0 || write_all(&l, db, &err) < 0)
        st_call_failed(c, &err);
    else
        c->a->status = 200;
    end(&l);
}

void st_answer_container(struct st_call *c)
{
    st_auto_free char *id = st_call_id(c);
    st_auto_stmt one = NULL;
    struct st_error err = {0};
    struct st_db *db = id ? st_call_db(c) : NULL;
    struct list l;
    sqlite3_stmt *row;
    struct st_jw w;

    if (id && !db)
        return;
    if (!id) {
        st_http_refuse(c->a, 404, "no_such_container", "this is no ID of a container");
        return;
    }
    if (begin(&l, c, &err) < 0 ||
        st_db_prepare(db, TRACE_SELECT "WHERE t.container = ?1 ORDER BY t.updated DESC LIMIT 1", &one, &err) <
            0) {
        st_call_failed(c, &err);
        end(&l);
        return;
    }
    row = row_of(db, one, id);
    if (!row && !runs(&l, id)) {
        st_http_refuse(c->a, 404, "no_such_container",
                       "neither a container that runs nor a trace is called %s", id);
    } else {
        st_jw_init(&w, &c->a->body);
        put_container(&w, &l, id, row);
        c->a->status = 200;
    }
    end(&l);
}
