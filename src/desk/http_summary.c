/* http_summary: how many of what, for all or for one agent. Counts of the whole are kept by the indexer;
 * which paths and hosts come most is counted for all events there, and for one agent over its newest. */
#include "base/json_write.h"
#include "desk/desk.h"
#include "desk/http_event_write.h"
#include "desk/http_top.h"

#include <stdio.h>
#include <string.h>

static int put_counts(struct st_jw *w, struct st_db *db, const char *agent, const char *key,
                      const char *column, struct st_error *err)
{
    st_auto_stmt s = NULL;
    char sql[256];
    int rc;

    snprintf(sql, sizeof(sql), "SELECT %s, sum(n) FROM class WHERE n > 0%s GROUP BY 1 ORDER BY 1", column,
             agent ? " AND analysis_id = ?1" : "");
    rc = st_db_prepare(db, sql, &s, err);
    st_jw_key(w, key);
    st_jw_object(w);
    if (rc == 0 && agent)
        st_bind_str(s, 1, st_str(agent));
    while (rc == 0 && (rc = st_db_step(db, s, err)) > 0) {
        /* The words of a record; a trace that was made up may hold others, and those have an order too. */
        st_jw_kint(w, (const char *)sqlite3_column_text(s, 0), sqlite3_column_int64(s, 1));
        w->last_key[w->depth ? w->depth - 1 : 0] = NULL;
        rc = 0;
    }
    st_jw_end(w, '}');
    return rc;
}

static int put_one(struct st_jw *w, struct st_db *db, const char *agent, const char *key,
                   const char *condition, struct st_error *err)
{
    st_auto_stmt s = NULL;
    char sql[256];
    int rc;

    snprintf(sql, sizeof(sql), "SELECT coalesce(sum(n), 0) FROM class WHERE n > 0%s%s", condition,
             agent ? " AND analysis_id = ?1" : "");
    rc = st_db_prepare(db, sql, &s, err);
    if (rc == 0 && agent)
        st_bind_str(s, 1, st_str(agent));
    if (rc == 0)
        rc = st_db_step(db, s, err);
    if (rc > 0)
        st_jw_kint(w, key, sqlite3_column_int64(s, 0));
    return rc < 0 ? rc : 0;
}

static int put_traces(struct st_jw *w, struct st_db *db, struct st_error *err)
{
    static const char *const states[] = {"broken", "missing", "running", "sealed", "torn", "truncated"};
    int rc = 0;

    st_jw_key(w, "traces");
    st_jw_object(w);
    for (size_t i = 0; rc == 0 && i < sizeof(states) / sizeof(states[0]); i++) {
        st_auto_stmt s = NULL;

        rc = st_db_prepare(db,
                           i ? "SELECT count(*) FROM trace WHERE state = ?1"
                             : "SELECT count(*) FROM trace WHERE chain = ?1",
                           &s, err);
        if (rc == 0) {
            st_bind_str(s, 1, st_str(states[i]));
            rc = st_db_step(db, s, err);
        }
        if (rc > 0)
            st_jw_kint(w, states[i], sqlite3_column_int64(s, 0));
        rc = rc < 0 ? rc : 0;
    }
    st_jw_end(w, '}');
    return rc;
}

static int write_summary(struct st_call *c, struct st_db *db, const char *agent, struct st_error *err)
{
    struct st_jw w;

    st_jw_init(&w, &c->a->body);
    st_jw_object(&w);
    if (put_one(&w, db, agent, "blocked", " AND blocked", err) < 0 ||
        put_counts(&w, db, agent, "by_action", "action", err) < 0 ||
        put_counts(&w, db, agent, "by_kind", "kind", err) < 0 ||
        put_counts(&w, db, agent, "by_result", "result", err) < 0 ||
        put_counts(&w, db, agent, "by_severity", "severity", err) < 0 ||
        put_one(&w, db, agent, "events", "", err) < 0)
        return -err->errnum;
    st_jw_kint(&w, "quarantined", st_call_quarantined(c));
    if (st_top_write(&w, db, agent, err) < 0 || put_traces(&w, db, err) < 0)
        return -err->errnum;
    st_jw_end(&w, '}');
    return 0;
}

void st_answer_summary(struct st_call *c)
{
    static const char *const known[] = {"analysis_id", NULL};
    const char *agent = st_query_get(&c->r->query, "analysis_id");
    struct st_error err = {0};
    struct st_db *db;

    if (st_query_only(&c->r->query, known, &err) < 0) {
        st_call_bad(c, &err);
        return;
    }
    db = st_call_db(c);
    if (!db)
        return;
    if (st_db_exec(db, "BEGIN", &err) < 0 || write_summary(c, db, agent && *agent ? agent : NULL, &err) < 0) {
        st_call_failed(c, &err);
        return;
    }
    st_db_exec(db, "COMMIT", NULL); /* of reading: all of it is of one moment */
    c->a->status = 200;
}
