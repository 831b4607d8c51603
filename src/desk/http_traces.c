/* http_traces: is a trace what its writer wrote? Read whole, by `sandtrace verify` in a process of its own.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/http_event_write.h"
#include "desk/http_live.h"

#include <errno.h>

static int find_trace(struct st_db *db, const char *id, char **name, char **state, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(
        db, "SELECT name, state FROM trace WHERE container = ?1 OR name = ?1 ORDER BY updated DESC LIMIT 1",
        &s, err);

    if (rc < 0)
        return rc;
    st_bind_str(s, 1, st_str(id));
    rc = st_db_step(db, s, err);
    if (rc > 0) {
        *name = st_xstrdup((const char *)sqlite3_column_text(s, 0));
        *state = st_xstrdup((const char *)sqlite3_column_text(s, 1));
    }
    return rc;
}

static void write_answer(struct st_call *c, const char *id, const char *state, const struct st_live_answer *a)
{
    struct st_jw w;

    st_jw_init(&w, &c->a->body);
    st_jw_object(&w);
    st_jw_kstr(&w, "container", id);
    st_live_copy(&w, "head", a, st_json_get(a->root, "head"));
    st_jw_key(&w, "issues");
    st_jw_array(&w);
    st_json_each (issue, st_json_get(a->root, "issues")) {
        static const char *const members[] = {"code", "line", "offset", "seq", "what"};

        st_jw_object(&w);
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
            st_live_copy(&w, members[i], a, st_json_get(issue, members[i]));
        st_jw_end(&w, '}');
    }
    st_jw_end(&w, ']');
    st_live_copy(&w, "records", a, st_json_get(a->root, "records"));
    st_live_copy(&w, "signed_seq", a, st_json_get(a->root, "signed_seq"));
    st_jw_kstr(&w, "state", state);
    st_live_copy(&w, "valid", a, st_json_get(a->root, "valid"));
    st_jw_end(&w, '}');
    c->a->status = 200;
}

void st_answer_verify(struct st_call *c)
{
    st_auto_free char *id = st_call_id(c), *name = NULL, *state = NULL;
    st_auto_live_answer a = {0};
    struct st_error err = {0};
    struct st_db *db = st_call_db(c);
    int rc;

    if (!db)
        return;
    rc = id ? find_trace(db, id, &name, &state, &err) : 0;
    if (rc == 0) {
        st_http_refuse(c->a, 404, "no_such_trace", "the index knows no trace of this name");
        return;
    }
    if (rc > 0)
        rc = c->desk->live->verify(c->desk->live->ctx, name, &a.text, &err);
    if (rc >= 0)
        rc = st_json_parse(st_buf_cstr(&a.text), a.text.len, ST_JSON_DEFAULT_LIMITS, &a.doc, &err);
    if (rc < 0) {
        st_http_refuse(c->a, err.errnum == ENOENT ? 404 : 502,
                       err.errnum == ENOENT ? "no_such_trace" : "not_verified", "%s", err.msg);
        return;
    }
    a.root = st_json_root(a.doc);
    write_answer(c, id, state, &a);
}
