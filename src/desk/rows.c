/* rows: see rows.h. */
#include "desk/rows.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/counts.h"
#include "desk/feed.h"
#include "desk/places.h"
#include "desk/words.h"

#include <string.h>

struct st_rows {
    struct st_db *db;
    struct st_words *words;
    struct st_counts *counts;
    struct st_places *places;
    struct st_feed *feed;
    sqlite3_stmt *add, *begin, *commit, *rollback, *drop, *drop_issues, *add_issue, *judge, *last_id;
    bool open;
    int64_t next_id; /* 0: not known */
};

static const struct {
    size_t offset;
    const char *sql;
} statements[] = {
    /* Whatever fails is rolled back whole: FAIL spares SQLite from keeping what was before each statement. */
    {offsetof(struct st_rows, add), "INSERT OR FAIL INTO sandbox_audit_event SELECT * FROM new_event"},
    {offsetof(struct st_rows, begin), "BEGIN IMMEDIATE"},
    {offsetof(struct st_rows, commit), "COMMIT"},
    {offsetof(struct st_rows, rollback), "ROLLBACK"},
    {offsetof(struct st_rows, drop), "DELETE FROM sandbox_audit_event WHERE trace = ?1 AND id >= ?2"},
    {offsetof(struct st_rows, drop_issues), "DELETE FROM trace_issue WHERE trace = ?1 AND n >= ?2"},
    {offsetof(struct st_rows, add_issue), "INSERT INTO trace_issue VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
    {offsetof(struct st_rows, judge),
     "UPDATE sandbox_audit_event SET chain = ?3 WHERE class IN (SELECT no FROM class WHERE trace = ?1)"
     " AND seq > ?2 AND chain <> ?3"},
    {offsetof(struct st_rows, last_id), "SELECT max(id) FROM sandbox_audit_event"},
};

#define N_STATEMENTS (sizeof(statements) / sizeof(statements[0]))

static sqlite3_stmt **statement(struct st_rows *r, size_t i)
{
    return (sqlite3_stmt **)(void *)((char *)r + statements[i].offset);
}

static void numbered(sqlite3_context *out, int64_t id)
{
    if (id)
        sqlite3_result_int64(out, id);
}

/* As sandbox_audit_event has them. */
static void column(const void *rows, size_t i, int at, sqlite3_context *out)
{
    const struct st_event_row *e = (const struct st_event_row *)rows + i;
    const struct st_extract *x = &e->x;

    switch (at) {
    case 0: sqlite3_result_int64(out, e->id); break;
    case 1: st_result_str(out, x->analysis_id); break;
    case 2: sqlite3_result_int64(out, x->ts); break;
    case 3: st_result_str(out, x->kind); break;
    case 4: st_result_str(out, x->path_or_addr); break;
    case 5: st_result_str(out, x->severity); break;
    case 6: sqlite3_result_int(out, x->result.len == 5 && memcmp(x->result.p, "allow", 5) == 0); break;
    case 7: sqlite3_result_int(out, x->blocked); break;
    case 8: st_result_str(out, x->raw_detail); break;
    case 9: sqlite3_result_int64(out, e->trace); break;
    case 10: sqlite3_result_int64(out, (int64_t)e->seq); break;
    case 11: st_result_str(out, st_str(e->broken ? ST_CHAIN_BROKEN : ST_CHAIN_WHOLE)); break;
    case 12: st_result_str(out, x->event_id); break;
    case 13: st_result_str(out, x->result); break;
    case 14: st_result_str(out, x->action); break;
    case 15: st_result_str(out, x->rule); break;
    case 16: st_result_str(out, x->reason); break;
    case 17: numbered(out, e->subject); break;
    case 18: numbered(out, e->command); break;
    default: sqlite3_result_int64(out, e->class); break;
    }
}

#define COLUMNS 20
#define AHEAD 4 /* events whose texts are fetched while one is written */

int st_rows_new(struct st_db *db, struct st_rows **out, struct st_error *err)
{
    st_auto_rows r = st_xcalloc(1, sizeof(*r));

    r->db = db;
    if (st_words_new(db, &r->words, err) < 0 || st_counts_new(db, &r->counts, err) < 0 ||
        st_places_new(db, &r->places, err) < 0 ||
        st_feed_new(db, "new_event", COLUMNS, column, &r->feed, err) < 0)
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
    return 0;
}

void st_rows_rollback(struct st_rows *r)
{
    st_db_run(r->db, r->rollback, NULL);
    st_words_forget(r->words);
    st_counts_forget(r->counts);
    st_places_forget(r->places);
    r->open = false;
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

void st_rows_prepare(const struct st_rows *r, struct st_event_row *e)
{
    e->subject_hash = st_words_hash(r->words, e->x.subject);
    e->command_hash = st_words_hash(r->words, e->x.command);
}

static int number_text(struct st_rows *r, const struct st_event_row *e, bool about, int64_t *id,
                       struct st_error *err)
{
    struct st_place place = {.ts = e->x.ts, .event = e->id, .class = e->class};
    struct st_str text = about ? e->x.subject : e->x.command;
    uint64_t hash = about ? e->subject_hash : e->command_hash;
    int rc;

    *id = 0;
    if (!text.p || !text.len)
        return 0;
    rc = st_words_id(r->words, text, hash, about, about && e->x.blocked, id, err);
    if (rc < 0)
        return rc;
    place.text = *id;
    st_places_add(r->places, &place);
    return 0;
}

int st_rows_add(struct st_rows *r, int64_t trace, struct st_event_row *events, size_t n, struct st_error *err)
{
    int64_t id;

    if (st_rows_begin(r, err) < 0 || st_rows_next_id(r, &id, err) < 0)
        return -err->errnum;
    for (size_t i = 0; i < n; i++) {
        struct st_event_row *e = &events[i];

        if (i + AHEAD < n) {
            st_words_expect(r->words, e[AHEAD].subject_hash);
            st_words_expect(r->words, e[AHEAD].command_hash);
        }
        e->id = id++;
        e->trace = trace;
        if (st_counts_add(r->counts, trace, &e->x, &e->class, err) < 0 ||
            number_text(r, e, true, &e->subject, err) < 0 || number_text(r, e, false, &e->command, err) < 0)
            return -err->errnum;
    }
    r->next_id = id;
    return st_feed_run(r->feed, events, n, r->add, err);
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

int st_rows_judge(struct st_rows *r, int64_t trace, uint64_t after_seq, bool broken, struct st_error *err)
{
    if (st_rows_begin(r, err) < 0)
        return -err->errnum;
    sqlite3_bind_int64(r->judge, 1, trace);
    sqlite3_bind_int64(r->judge, 2, (int64_t)after_seq);
    st_bind_str(r->judge, 3, st_str(broken ? ST_CHAIN_BROKEN : ST_CHAIN_WHOLE));
    return st_db_run(r->db, r->judge, err);
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
