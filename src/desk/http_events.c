/* http_events: events, newest first, page by page; and one alone. */
#include "base/clock.h"
#include "base/json_write.h"
#include "desk/desk.h"
#include "desk/http_event_write.h"
#include "desk/http_find.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE_DEFAULT 100
#define PAGE_MAX 500

static int write_page(struct st_db *db, const struct st_find *f, const struct st_found *found,
                      struct st_buf *out, struct st_error *err)
{
    st_auto_stmt s = NULL;
    char cursor[ST_CURSOR_SIZE];
    struct st_jw w;
    int rc = st_db_prepare(db, ST_EVENT_SELECT " WHERE e.id = ?1", &s, err);

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_key(&w, "events");
    st_jw_array(&w);
    for (size_t i = 0; rc == 0 && i < found->n; i++) {
        sqlite3_bind_int64(s, 1, found->list[i].id);
        rc = st_db_step(db, s, err);
        if (rc > 0)
            st_event_write(&w, s);
        rc = rc < 0 ? rc : 0; /* gone meanwhile: taken out again by the indexer, and not shown */
        sqlite3_reset(s);
    }
    st_jw_end(&w, ']');
    st_jw_key(&w, "next");
    if (found->n == f->limit && found->n) {
        st_cursor_write(&found->list[found->n - 1], cursor);
        st_jw_str(&w, cursor);
    } else {
        st_jw_null(&w);
    }
    st_jw_end(&w, '}');
    return rc;
}

void st_answer_events(struct st_call *c)
{
    static const char *const known[] = {ST_FIND_NAMES, "limit", "cursor", NULL};
    st_auto_found found = {0};
    struct st_error err = {0};
    struct st_find f;
    struct st_db *db;
    int64_t limit;

    if (st_query_only(&c->r->query, known, &err) < 0 ||
        st_query_int(&c->r->query, "limit", 1, PAGE_MAX, PAGE_DEFAULT, &limit, &err) < 0 ||
        st_find_parse(&c->r->query, st_now_wall_us(), &f, &err) < 0) {
        st_call_bad(c, &err);
        return;
    }
    f.limit = (size_t)limit;
    db = st_call_db(c);
    if (!db)
        return;
    if (st_find_run(db, &f, &found, &err) < 0 || write_page(db, &f, &found, &c->a->body, &err) < 0)
        st_call_failed(c, &err);
    else
        c->a->status = 200;
}

void st_answer_event(struct st_call *c)
{
    st_auto_stmt s = NULL;
    struct st_error err = {0};
    struct st_db *db;
    struct st_jw w;
    int64_t id = 0;
    int rc;

    for (size_t i = 0; i < c->r->tail_len; i++) {
        if (c->r->tail[i] < '0' || c->r->tail[i] > '9' || i > 17) {
            st_http_refuse(c->a, 404, "no_such_event", "an event has a number");
            return;
        }
        id = id * 10 + (c->r->tail[i] - '0');
    }
    db = st_call_db(c);
    if (!db)
        return;
    rc = st_db_prepare(db, ST_EVENT_SELECT " WHERE e.id = ?1", &s, &err);
    if (rc == 0) {
        sqlite3_bind_int64(s, 1, id);
        rc = st_db_step(db, s, &err);
    }
    if (rc < 0) {
        st_call_failed(c, &err);
    } else if (rc == 0) {
        st_http_refuse(c->a, 404, "no_such_event", "there is no event %lld", (long long)id);
    } else {
        st_jw_init(&w, &c->a->body);
        st_event_write(&w, s);
        c->a->status = 200;
    }
}
