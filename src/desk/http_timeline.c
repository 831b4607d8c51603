/* http_timeline: how many events there were when. Counted in the index alone (class, ts), which has what is
 * asked for; where words are looked for, the newest of those that were found are counted. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "desk/desk.h"
#include "desk/http_event_write.h"
#include "desk/http_sets.h"

#include <string.h>

#define BUCKETS_DEFAULT 60
#define BUCKETS_MAX 500
#define FOUND_MAX 20000

struct bucket {
    int64_t n, blocked, severe;
};

struct timeline {
    struct st_db *db;
    struct st_find f;
    struct st_sets sets;
    int64_t from, until, step;
    size_t n;
    struct bucket *list;
    bool cut; /* there were more than were counted */
};

static bool is_severe(struct st_str s)
{
    return (s.len == 4 && memcmp(s.p, "high", 4) == 0) || (s.len == 8 && memcmp(s.p, "critical", 8) == 0);
}

static void count(struct timeline *t, int64_t bucket, int64_t n, bool blocked, bool severe)
{
    struct bucket *b = bucket >= 0 && (size_t)bucket < t->n ? &t->list[bucket] : NULL;

    if (!b)
        return;
    b->n += n;
    b->blocked += blocked ? n : 0;
    b->severe += severe ? n : 0;
}

/* From the first event to the last, where nobody says it. */
static int find_ends(struct timeline *t, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(
        t->db, "SELECT (SELECT min(ts) FROM sandbox_audit_event), (SELECT max(ts) FROM sandbox_audit_event)",
        &s, err);

    if (rc == 0)
        rc = st_db_step(t->db, s, err);
    if (rc < 0)
        return rc;
    t->from = t->f.since != INT64_MIN ? t->f.since : sqlite3_column_int64(s, 0);
    t->until = t->f.until != INT64_MAX ? t->f.until : sqlite3_column_int64(s, 1) + 1;
    if (t->until <= t->from)
        t->until = t->from + 1;
    /* Whole milliseconds; the last bucket may reach beyond the end. */
    t->step = (t->until - t->from + (int64_t)t->n - 1) / (int64_t)t->n;
    t->step = (t->step + 999) / 1000 * 1000;
    return 0;
}

static int count_class(struct timeline *t, sqlite3_stmt *each, int64_t class, bool blocked, bool severe,
                       struct st_error *err)
{
    int rc;

    sqlite3_bind_int64(each, 1, class);
    sqlite3_bind_int64(each, 2, t->from);
    sqlite3_bind_int64(each, 3, t->until);
    sqlite3_bind_int64(each, 4, t->step);
    while ((rc = st_db_step(t->db, each, err)) > 0) /* GROUP BY would keep all of them in memory first */
        count(t, sqlite3_column_int64(each, 0), 1, blocked, severe);
    sqlite3_reset(each);
    return rc;
}

static int count_classes(struct timeline *t, struct st_error *err)
{
    st_auto_stmt classes = NULL;
    st_auto_stmt each = NULL;
    int rc = st_db_prepare(t->db, "SELECT no, blocked, severity FROM class WHERE n > 0", &classes, err);

    if (rc == 0)
        rc = st_db_prepare(t->db,
                           "SELECT (ts - ?2) / ?4 FROM sandbox_audit_event INDEXED BY event_by_class"
                           " WHERE class = ?1 AND ts >= ?2 AND ts < ?3",
                           &each, err);
    while (rc == 0 && (rc = st_db_step(t->db, classes, err)) > 0) {
        int64_t no = sqlite3_column_int64(classes, 0);

        rc = t->sets.by_class && !st_set_has(&t->sets.classes, no)
                 ? 0
                 : count_class(t, each, no, sqlite3_column_int(classes, 1) != 0,
                               is_severe(st_column_str(classes, 2)), err);
    }
    return rc;
}

static int count_found(struct timeline *t, struct st_error *err)
{
    st_auto_found found = {0};
    st_auto_stmt s = NULL;
    int rc;

    t->f.limit = FOUND_MAX;
    rc = st_find_run(t->db, &t->f, &found, err);
    t->cut = found.n == FOUND_MAX;
    if (rc == 0)
        rc = st_db_prepare(t->db, "SELECT blocked, severity FROM sandbox_audit_event WHERE id = ?1", &s, err);
    for (size_t i = 0; rc == 0 && i < found.n; i++) {
        sqlite3_bind_int64(s, 1, found.list[i].id);
        rc = st_db_step(t->db, s, err);
        if (rc > 0)
            count(t, (found.list[i].ts - t->from) / t->step, 1, sqlite3_column_int(s, 0) != 0,
                  is_severe(st_column_str(s, 1)));
        rc = rc < 0 ? rc : 0;
        sqlite3_reset(s);
    }
    return rc;
}

static void write_timeline(const struct timeline *t, struct st_buf *out)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_key(&w, "buckets");
    st_jw_array(&w);
    for (size_t i = 0; i < t->n; i++) {
        st_jw_object(&w);
        st_jw_kint(&w, "blocked", t->list[i].blocked);
        st_jw_kint(&w, "n", t->list[i].n);
        st_jw_kint(&w, "severe", t->list[i].severe);
        st_jw_ktime(&w, "t", t->from + (int64_t)i * t->step);
        st_jw_end(&w, '}');
    }
    st_jw_end(&w, ']');
    st_jw_kbool(&w, "cut", t->cut);
    st_jw_ktime(&w, "from", t->from);
    st_jw_kint(&w, "step_ms", t->step / 1000);
    st_jw_ktime(&w, "until", t->until);
    st_jw_end(&w, '}');
}

void st_answer_timeline(struct st_call *c)
{
    static const char *const known[] = {ST_FIND_NAMES, "buckets", NULL};
    st_auto_free struct bucket *list = NULL;
    struct timeline t = {0};
    struct st_error err = {0};
    int64_t buckets;
    int rc;

    if (st_query_only(&c->r->query, known, &err) < 0 ||
        st_query_int(&c->r->query, "buckets", 1, BUCKETS_MAX, BUCKETS_DEFAULT, &buckets, &err) < 0 ||
        st_find_parse(&c->r->query, st_now_wall_us(), &t.f, &err) < 0) {
        st_call_bad(c, &err);
        return;
    }
    t.db = st_call_db(c);
    if (!t.db)
        return;
    t.n = (size_t)buckets;
    t.list = list = st_xcalloc(t.n, sizeof(*list));
    rc = find_ends(&t, &err);
    if (rc == 0 && t.f.text)
        rc = count_found(&t, &err);
    else if (rc == 0 && (rc = st_sets_find(t.db, &t.f, &t.sets, &err)) == 0)
        rc = count_classes(&t, &err);
    st_sets_free(&t.sets);
    if (rc < 0) {
        st_call_failed(c, &err);
        return;
    }
    write_timeline(&t, &c->a->body);
    c->a->status = 200;
}
