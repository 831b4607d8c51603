/* http_find: see http_find.h.
 *
 * Three ways lead to the newest events of a filter. By class: what has agent, container, kind, severity and
 * outcome in common is found by time in one index, and a filter is a few such classes, merged. By text: the
 * same for the paths, hosts and commands in which the words are. By time: where those would be too many, all
 * events newest first, looked at one by one; many match then, and a page is soon full. Where classes and
 * words are asked for, the way is the one on which there is less to look at. */
#include "desk/http_find.h"

#include "base/mem.h"
#include "desk/http_sets.h"

#include <errno.h>
#include <stdlib.h>

#define MERGED_MAX 2000 /* more classes or texts than that, and time leads there sooner */
#define FEW 10000       /* events that are looked at one by one in the time of a page */

void st_found_free(struct st_found *f)
{
    free(f->list);
    *f = (struct st_found){0};
}

struct search {
    struct st_db *db;
    const struct st_find *f;
    struct st_sets sets;
    struct st_found *out;
    size_t room;
    int64_t floor; /* nothing older can get onto the page any more */
};

static int newest_first(const void *a, const void *b)
{
    const struct st_event_at *x = a, *y = b;

    if (x->ts != y->ts)
        return x->ts < y->ts ? 1 : -1;
    return x->id < y->id ? 1 : x->id > y->id ? -1 : 0;
}

static void keep(struct search *s, struct st_event_at at)
{
    if (s->out->n == s->room) {
        s->room = s->room ? s->room * 2 : 64;
        s->out->list = st_xrealloc(s->out->list, s->room * sizeof(*s->out->list));
    }
    s->out->list[s->out->n++] = at;
}

/* Puts in order what came together, and leaves out what is too much of it, or there twice. */
static void settle(struct search *s)
{
    size_t kept = 0;

    if (!s->out->n)
        return;
    qsort(s->out->list, s->out->n, sizeof(*s->out->list), newest_first);
    for (size_t i = 0; i < s->out->n && kept < s->f->limit; i++)
        if (!kept || s->out->list[i].id != s->out->list[kept - 1].id)
            s->out->list[kept++] = s->out->list[i];
    s->out->n = kept;
    if (kept == s->f->limit)
        s->floor = s->out->list[kept - 1].ts;
}

/* Columns are ts, id, class, subject, command as far as the statement has them. */
static int take_rows(struct search *s, sqlite3_stmt *st, bool looks_at_class, bool looks_at_text,
                     struct st_error *err)
{
    size_t taken = 0;
    int rc = 0;

    while (taken < s->f->limit && (rc = st_db_step(s->db, st, err)) > 0) {
        struct st_event_at at = {.ts = sqlite3_column_int64(st, 0), .id = sqlite3_column_int64(st, 1)};

        if (at.ts < s->floor)
            break;
        if (looks_at_class && !st_set_has(&s->sets.classes, sqlite3_column_int64(st, 2)))
            continue;
        if (looks_at_text && !st_set_has(&s->sets.texts, sqlite3_column_int64(st, 3)) &&
            !st_set_has(&s->sets.texts, sqlite3_column_int64(st, 4)))
            continue;
        keep(s, at);
        taken++;
    }
    sqlite3_reset(st);
    return rc < 0 ? rc : 0;
}

/* The times of a page: ?2 to ?5, behind what is merged (?1). */
#define PAGE_BY(id) "ts >= ?2 AND ts < ?3 AND (ts, " id ") < (?4, ?5) ORDER BY ts DESC, " id " DESC"
#define PAGE PAGE_BY("id")

static void bind_page(const struct search *s, sqlite3_stmt *st)
{
    sqlite3_bind_int64(st, 2, s->f->since > s->floor ? s->f->since : s->floor);
    sqlite3_bind_int64(st, 3, s->f->until);
    sqlite3_bind_int64(st, 4, s->f->after ? s->f->cursor.ts : INT64_MAX);
    sqlite3_bind_int64(st, 5, s->f->after ? s->f->cursor.id : INT64_MAX);
}

static int merge(struct search *s, const char *sql, const struct st_set *of, bool looks_at_class,
                 bool looks_at_text, struct st_error *err)
{
    st_auto_stmt st = NULL;
    int rc = st_db_prepare(s->db, sql, &st, err);

    for (size_t i = 0; rc == 0 && i < of->n; i++) {
        size_t before = s->out->n;

        sqlite3_bind_int64(st, 1, of->list[i]);
        bind_page(s, st);
        rc = take_rows(s, st, looks_at_class, looks_at_text, err);
        if (s->out->n > before)
            settle(s);
    }
    return rc;
}

static int by_class(struct search *s, struct st_error *err)
{
    return merge(
        s,
        s->sets.by_text
            ? "SELECT ts, id, class, subject, command FROM sandbox_audit_event INDEXED BY event_by_class"
              " WHERE class = ?1 AND " PAGE
            : "SELECT ts, id FROM sandbox_audit_event INDEXED BY event_by_class WHERE class = ?1 AND " PAGE,
        &s->sets.classes, false, s->sets.by_text, err);
}

static int by_text(struct search *s, struct st_error *err)
{
    return merge(s, "SELECT ts, event, class FROM text_at WHERE text = ?1 AND " PAGE_BY("event"),
                 &s->sets.texts, s->sets.by_class, false, err);
}

static int by_time(struct search *s, struct st_error *err)
{
    bool looks = s->sets.by_class || s->sets.by_text;
    st_auto_stmt st = NULL;
    int rc = st_db_prepare(
        s->db,
        looks ? "SELECT ts, id, class, subject, command FROM sandbox_audit_event"
                " INDEXED BY event_by_time WHERE ?1 AND " PAGE
              : "SELECT ts, id FROM sandbox_audit_event INDEXED BY event_by_time WHERE ?1 AND " PAGE,
        &st, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(st, 1, 1);
    bind_page(s, st);
    return take_rows(s, st, s->sets.by_class, s->sets.by_text, err);
}

static int by_shortest_way(struct search *s, struct st_error *err)
{
    bool classes = s->sets.by_class && s->sets.classes.n <= MERGED_MAX;
    bool texts = s->sets.by_text && s->sets.texts.n <= MERGED_MAX;

    if (classes && (!texts || s->sets.classes.events <= FEW))
        return by_class(s, err);
    return texts ? by_text(s, err) : by_time(s, err);
}

int st_find_run(struct st_db *db, const struct st_find *f, struct st_found *out, struct st_error *err)
{
    struct search s = {.db = db, .f = f, .out = out, .floor = INT64_MIN};
    int rc = st_sets_find(db, f, &s.sets, err);

    *out = (struct st_found){0};
    if (rc == 0 && ((s.sets.by_class && !s.sets.classes.n) || (s.sets.by_text && !s.sets.texts.n)))
        rc = 0; /* nothing can match */
    else if (rc == 0)
        rc = by_shortest_way(&s, err);
    settle(&s);
    st_sets_free(&s.sets);
    return rc;
}
