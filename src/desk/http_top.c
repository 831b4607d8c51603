/* http_top: see http_top.h. */
#include "desk/http_top.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/http_find.h"

#include <string.h>

#define SHOWN 10
#define LOOKED_AT 5000 /* the most used texts, among which the shown are looked for */
#define NEWEST 10000   /* of one agent */

struct use {
    int64_t text, n, blocked;
};

static int by_text(const void *a, const void *b)
{
    int64_t x = ((const struct use *)a)->text, y = ((const struct use *)b)->text;

    return x < y ? -1 : x > y;
}

static int most_first(const void *a, const void *b)
{
    const struct use *x = a, *y = b;

    return x->n != y->n ? (x->n < y->n ? 1 : -1) : by_text(a, b);
}

static int uses_of_all(struct st_db *db, struct use *list, size_t *n, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(
        db, "SELECT text, uses, blocked FROM text_use WHERE uses > 0 ORDER BY uses DESC LIMIT ?1", &s, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int(s, 1, LOOKED_AT);
    while (*n < LOOKED_AT && (rc = st_db_step(db, s, err)) > 0)
        list[(*n)++] =
            (struct use){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1), sqlite3_column_int64(s, 2)};
    return rc < 0 ? rc : 0;
}

static void add_up(struct use *list, size_t *n)
{
    size_t kept = 0;

    if (!*n)
        return;
    qsort(list, *n, sizeof(*list), by_text);
    for (size_t i = 0; i < *n; i++) {
        if (kept && list[kept - 1].text == list[i].text) {
            list[kept - 1].n += list[i].n;
            list[kept - 1].blocked += list[i].blocked;
        } else {
            list[kept++] = list[i];
        }
    }
    *n = kept;
    qsort(list, *n, sizeof(*list), most_first);
}

static int uses_of_agent(struct st_db *db, const char *agent, struct use *list, size_t *n,
                         struct st_error *err)
{
    const struct st_find f = {
        .analysis_id = agent, .blocked = -1, .since = INT64_MIN, .until = INT64_MAX, .limit = NEWEST};
    st_auto_found found = {0};
    st_auto_stmt s = NULL;
    int rc = st_find_run(db, &f, &found, err);

    if (rc == 0)
        rc = st_db_prepare(db, "SELECT subject, blocked FROM sandbox_audit_event WHERE id = ?1", &s, err);
    for (size_t i = 0; rc == 0 && i < found.n; i++) {
        sqlite3_bind_int64(s, 1, found.list[i].id);
        rc = st_db_step(db, s, err);
        if (rc > 0 && sqlite3_column_type(s, 0) != SQLITE_NULL)
            list[(*n)++] = (struct use){sqlite3_column_int64(s, 0), 1, sqlite3_column_int64(s, 1)};
        rc = rc < 0 ? rc : 0;
        sqlite3_reset(s);
    }
    add_up(list, n);
    return rc;
}

/* Paths begin with a slash; anything else that is counted is a name or an address. Behind a host and its port
 * stands the address that it had. */
static int put(struct st_jw *w, struct st_db *db, const char *key, bool paths, const struct use *list,
               size_t n, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(db, "SELECT body FROM text WHERE id = ?1", &s, err);

    st_jw_key(w, key);
    st_jw_array(w);
    for (size_t i = 0, shown = 0; rc == 0 && i < n && shown < SHOWN; i++) {
        struct st_str body;

        sqlite3_bind_int64(s, 1, list[i].text);
        rc = st_db_step(db, s, err);
        body = rc > 0 ? st_column_str(s, 0) : (struct st_str){0};
        if (body.len && (body.p[0] == '/') == paths) {
            const char *space = paths ? NULL : memchr(body.p, ' ', body.len);

            st_jw_object(w);
            st_jw_kint(w, "blocked", list[i].blocked);
            st_jw_kint(w, "n", list[i].n);
            st_jw_key(w, "name");
            st_jw_strn(w, body.p, space ? (size_t)(space - body.p) : body.len);
            st_jw_end(w, '}');
            shown++;
        }
        rc = rc < 0 ? rc : 0;
        sqlite3_reset(s);
    }
    st_jw_end(w, ']');
    return rc;
}

int st_top_write(struct st_jw *w, struct st_db *db, const char *agent, struct st_error *err)
{
    st_auto_free struct use *list = st_xcalloc(agent ? NEWEST : LOOKED_AT, sizeof(*list));
    size_t n = 0;
    int rc = agent ? uses_of_agent(db, agent, list, &n, err) : uses_of_all(db, list, &n, err);

    if (rc == 0)
        rc = put(w, db, "top_destinations", false, list, n, err);
    if (rc == 0)
        rc = put(w, db, "top_paths", true, list, n, err);
    return rc;
}
