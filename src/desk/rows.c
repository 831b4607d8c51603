/* rows: see rows.h. */
#include "desk/rows.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/counts.h"
#include "desk/extract.h"
#include "desk/places.h"
#include "desk/words.h"

#include <string.h>

struct st_rows {
    struct st_db *db;
    struct st_words *words;
    struct st_counts *counts;
    struct st_places *places;
    struct st_extract_room room;
    sqlite3_stmt *add, *begin, *commit, *rollback, *drop, *drop_issues, *add_issue, *last_id;
    bool open;
    unsigned pending;
    int64_t next_id; /* 0: not known */
};

static const struct {
    size_t offset;
    const char *sql;
} statements[] = {
    {offsetof(struct st_rows, add), "INSERT INTO sandbox_audit_event VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                                    "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
                                    " ?17, ?18, ?19, ?20)"},
    {offsetof(struct st_rows, begin), "BEGIN IMMEDIATE"},
    {offsetof(struct st_rows, commit), "COMMIT"},
    {offsetof(struct st_rows, rollback), "ROLLBACK"},
    {offsetof(struct st_rows, drop), "DELETE FROM sandbox_audit_event WHERE trace = ?1 AND id >= ?2"},
    {offsetof(struct st_rows, drop_issues), "DELETE FROM trace_issue WHERE trace = ?1 AND n >= ?2"},
    {offsetof(struct st_rows, add_issue), "INSERT INTO trace_issue VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
    {offsetof(struct st_rows, last_id), "SELECT max(id) FROM sandbox_audit_event"},
};

#define N_STATEMENTS (sizeof(statements) / sizeof(statements[0]))

static sqlite3_stmt **statement(struct st_rows *r, size_t i)
{
    return (sqlite3_stmt **)(void *)((char *)r + statements[i].offset);
}

int st_rows_new(struct st_db *db, struct st_rows **out, struct st_error *err)
{
    st_auto_rows r = st_xcalloc(1, sizeof(*r));

    r->db = db;
    if (st_words_new(db, &r->words, err) < 0 || st_counts_new(db, &r->counts, err) < 0 ||
        st_places_new(db, &r->places, err) < 0)
        return -err->errnum;
    for (size_t i = 0; i < N_STATEMENTS; i++)
        if (st_db_prepare(db, statements[i].sql, statement(r, i), err) < 0)
            return -err->errnum;
    *out = st_steal_ptr(&r);
    return 0;
}

void st_rows_free(struct st_rows *r)
{
    if (!r)
        return;
    if (r->open)
        st_rows_rollback(r);
    st_words_freep(&r->words);
    st_counts_freep(&r->counts);
    st_places_freep(&r->places);
    for (size_t i = 0; i < N_STATEMENTS; i++)
        st_stmt_freep(statement(r, i));
    st_extract_room_free(&r->room);
    free(r);
}

void st_rows_freep(struct st_rows **r)
{
    st_rows_free(*r);
    *r = NULL;
}

int st_rows_begin(struct st_rows *r, struct st_error *err)
{
    int rc = r->open ? 0 : st_db_run(r->db, r->begin, err);

    r->open = rc == 0;
    return rc;
}

/* What was gathered beside the events. */
static int flush(struct st_rows *r, struct st_error *err)
{
    int rc = st_words_flush(r->words, err);

    if (rc == 0)
        rc = st_counts_flush(r->counts, err);
    return rc < 0 ? rc : st_places_flush(r->places, err);
}

int st_rows_commit(struct st_rows *r, struct st_error *err)
{
    int rc;

    if (!r->open)
        return 0;
    rc = flush(r, err);
    if (rc == 0)
        rc = st_db_run(r->db, r->commit, err);
    if (rc < 0) {
        st_rows_rollback(r);
        return rc;
    }
    r->open = false;
    r->pending = 0;
    return 0;
}

void st_rows_rollback(struct st_rows *r)
{
    st_db_run(r->db, r->rollback, NULL);
    st_words_forget(r->words);
    st_counts_forget(r->counts);
    st_places_forget(r->places);
    r->open = false;
    r->pending = 0;
    r->next_id = 0;
}

int st_rows_next_id(struct st_rows *r, int64_t *out, struct st_error *err)
{
    if (!r->next_id) {
        int rc = st_db_step(r->db, r->last_id, err);

        if (rc < 0)
            return rc;
        r->next_id = rc > 0 ? sqlite3_column_int64(r->last_id, 0) + 1 : 1;
        sqlite3_reset(r->last_id);
    }
    *out = r->next_id;
    return 0;
}

static void bind_event(struct st_rows *r, int64_t id, int64_t trace, bool broken, const struct st_frame *f,
                       const struct st_extract *x)
{
    sqlite3_stmt *s = r->add;

    sqlite3_bind_int64(s, 1, id);
    st_bind_str(s, 2, x->analysis_id);
    sqlite3_bind_int64(s, 3, x->ts);
    st_bind_str(s, 4, x->kind);
    st_bind_str(s, 5, x->path_or_addr);
    st_bind_str(s, 6, x->severity);
    sqlite3_bind_int(s, 7, x->result.len == 5 && memcmp(x->result.p, "allow", 5) == 0);
    sqlite3_bind_int(s, 8, x->blocked);
    st_bind_str(s, 9, x->raw_detail);
    sqlite3_bind_int64(s, 10, trace);
    sqlite3_bind_int64(s, 11, (int64_t)f->seq);
    st_bind_str(s, 12, st_str(broken ? ST_CHAIN_BROKEN : ST_CHAIN_WHOLE));
    st_bind_str(s, 13, x->event_id);
    st_bind_str(s, 14, x->result);
    st_bind_str(s, 15, x->action);
    st_bind_str(s, 16, x->rule);
    st_bind_str(s, 17, x->reason);
}

static int bind_words(struct st_rows *r, int at, struct st_str text, bool about, bool blocked,
                      struct st_place *place, struct st_error *err)
{
    int rc;

    sqlite3_bind_null(r->add, at);
    if (!text.p || !text.len)
        return 0;
    rc = st_words_id(r->words, text, about, blocked, &place->text, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(r->add, at, place->text);
    st_places_add(r->places, place);
    return 0;
}

int st_rows_add(struct st_rows *r, int64_t trace, bool broken, const struct st_frame *f, struct st_error *err)
{
    struct st_extract x;
    struct st_place place = {0};

    if (st_rows_begin(r, err) < 0 || st_rows_next_id(r, &place.event, err) < 0)
        return -err->errnum;
    st_extract(f, &r->room, &x);
    place.ts = x.ts;
    bind_event(r, place.event, trace, broken, f, &x);
    if (st_counts_add(r->counts, trace, &x, &place.class, err) < 0 ||
        bind_words(r, 18, x.subject, true, x.blocked, &place, err) < 0 ||
        bind_words(r, 19, x.command, false, false, &place, err) < 0)
        return -err->errnum;
    sqlite3_bind_int64(r->add, 20, place.class);
    if (st_db_run(r->db, r->add, err) < 0)
        return -err->errnum;
    r->next_id++;
    r->pending++;
    return 0;
}

/* The counts of what goes are in the database before it goes: deleting takes them back there. */
int st_rows_drop(struct st_rows *r, int64_t trace, int64_t from_id, struct st_error *err)
{
    if (st_rows_begin(r, err) < 0 || flush(r, err) < 0)
        return -err->errnum;
    sqlite3_bind_int64(r->drop, 1, trace);
    sqlite3_bind_int64(r->drop, 2, from_id);
    return st_db_run(r->db, r->drop, err);
}

int st_rows_issues(struct st_rows *r, int64_t trace, const struct st_verify_report *report, uint64_t keep,
                   struct st_error *err)
{
    sqlite3_stmt *s = r->add_issue;

    if (st_rows_begin(r, err) < 0)
        return -err->errnum;
    sqlite3_bind_int64(r->drop_issues, 1, trace);
    sqlite3_bind_int64(r->drop_issues, 2, (int64_t)keep);
    if (st_db_run(r->db, r->drop_issues, err) < 0)
        return -err->errnum;
    for (uint64_t i = keep; i < report->n_issues && i < ST_ISSUES_KEPT; i++) {
        const struct st_issue *issue = &report->issues[i];

        sqlite3_bind_int64(s, 1, trace);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        st_bind_str(s, 3, st_str(st_issue_name(issue->code)));
        sqlite3_bind_int64(s, 4, (int64_t)issue->seq);
        sqlite3_bind_int64(s, 5, issue->file);
        sqlite3_bind_int64(s, 6, (int64_t)issue->line);
        sqlite3_bind_int64(s, 7, (int64_t)issue->offset);
        st_bind_str(s, 8, st_str(issue->what));
        if (st_db_run(r->db, s, err) < 0)
            return -err->errnum;
    }
    return 0;
}

unsigned st_rows_pending(const struct st_rows *r)
{
    return r->pending;
}
