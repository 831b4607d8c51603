/* trace_row: see trace_row.h. One table says which column is which member. */
#include "desk/trace_row.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <stddef.h>
#include <string.h>

enum kind { WIDE, NARROW, YES, DIALECT, TEXT };

#define AT(member) offsetof(struct st_trace_row, member)
static const struct column {
    const char *name;
    enum kind kind;
    size_t offset, size; /* size: of TEXT */
} columns[] = {
    {"state", TEXT, AT(state), sizeof(((struct st_trace_row *)0)->state)},
    {"updated", WIDE, AT(updated), 0},
    {"file", WIDE, AT(file), 0},
    {"offset", WIDE, AT(offset), 0},
    {"line", WIDE, AT(line), 0},
    {"last_len", WIDE, AT(last_len), 0},
    {"last_sha256", TEXT, AT(last_sha256), ST_SHA256_HEX + 1},
    {"dialect", DIALECT, AT(place.report.dialect), 0},
    {"seq", WIDE, AT(place.link.seq), 0},
    {"head", TEXT, AT(place.link.head), ST_HASH_SIZE},
    {"unread", WIDE, AT(place.unread), 0},
    {"records", WIDE, AT(place.report.records), 0},
    {"lines", WIDE, AT(place.report.lines), 0},
    {"bytes", WIDE, AT(place.report.bytes), 0},
    {"final", YES, AT(place.report.final), 0},
    {"checkpoints", WIDE, AT(place.report.checkpoints), 0},
    {"signed_seq", WIDE, AT(place.report.signed_seq), 0},
    {"unsigned_checkpoints", WIDE, AT(place.report.unsigned_checkpoints), 0},
    {"torn", WIDE, AT(place.report.torn), 0},
    {"torn_bytes", WIDE, AT(place.report.torn_bytes), 0},
    {"issues", WIDE, AT(place.report.n_issues), 0},
    {"files", NARROW, AT(place.file), 0},
    {"bytes_before", WIDE, AT(place.bytes_before), 0},
    {"doubt", YES, AT(place.doubt), 0},
    {"doubt_seq", WIDE, AT(place.doubt_link.seq), 0},
    {"doubt_head", TEXT, AT(place.doubt_link.head), ST_HASH_SIZE},
    {"doubt_records", WIDE, AT(place.doubt_records), 0},
    {"doubt_checkpoints", WIDE, AT(place.doubt_checkpoints), 0},
    {"doubt_issues", WIDE, AT(place.doubt_issues), 0},
    {"doubt_signed_seq", WIDE, AT(place.doubt_signed_seq), 0},
    {"doubt_offset", WIDE, AT(place.doubt_offset), 0},
    {"doubt_id", WIDE, AT(doubt_id), 0},
};
#undef AT
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define OWN 5 /* parameters before them: no, name, container, chain, note */

void st_trace_row_init(struct st_trace_row *row, const char *name)
{
    *row = (struct st_trace_row){.name = st_xstrdup(name), .file = 1};
}

void st_trace_row_free(struct st_trace_row *row)
{
    free(row->name);
    free(row->note);
    *row = (struct st_trace_row){0};
}

void st_trace_row_begin_again(struct st_trace_row *row)
{
    *row = (struct st_trace_row){.no = row->no, .name = row->name, .note = row->note, .file = 1};
}

static void put(sqlite3_stmt *s, int at, const struct column *c, const void *slot)
{
    switch (c->kind) {
    case WIDE: sqlite3_bind_int64(s, at, *(const int64_t *)slot); break;
    case NARROW: sqlite3_bind_int64(s, at, *(const unsigned *)slot); break;
    case YES: sqlite3_bind_int(s, at, *(const bool *)slot); break;
    case DIALECT: sqlite3_bind_int(s, at, *(const enum st_dialect *)slot == ST_DIALECT_OLDER); break;
    case TEXT: st_bind_str(s, at, st_str(slot)); break;
    }
}

static void take(sqlite3_stmt *s, int at, const struct column *c, void *slot)
{
    struct st_str text;

    switch (c->kind) {
    case WIDE: *(int64_t *)slot = sqlite3_column_int64(s, at); break;
    case NARROW: *(unsigned *)slot = (unsigned)sqlite3_column_int64(s, at); break;
    case YES: *(bool *)slot = sqlite3_column_int(s, at) != 0; break;
    case DIALECT:
        *(enum st_dialect *)slot = sqlite3_column_int(s, at) ? ST_DIALECT_OLDER : ST_DIALECT_CURRENT;
        break;
    case TEXT:
        text = st_column_str(s, at);
        if (text.p && text.len < c->size)
            memcpy(slot, text.p, text.len + 1);
        break;
    }
}

int st_trace_row_load(struct st_db *db, const char *name, struct st_trace_row *out, struct st_error *err)
{
    st_auto_buf sql = ST_BUF_INIT;
    st_auto_stmt s = NULL;
    int rc;

    st_trace_row_init(out, name);
    st_buf_adds(&sql, "SELECT no, note");
    for (size_t i = 0; i < N_COLUMNS; i++)
        st_buf_addf(&sql, ", %s", columns[i].name);
    st_buf_adds(&sql, " FROM trace WHERE name = ?1");
    rc = st_db_prepare(db, st_buf_cstr(&sql), &s, err);
    if (rc < 0)
        return rc;
    st_bind_str(s, 1, st_str(name));
    rc = st_db_step(db, s, err);
    if (rc <= 0)
        return rc;
    out->no = sqlite3_column_int64(s, 0);
    out->note = sqlite3_column_text(s, 1) ? st_xstrdup((const char *)sqlite3_column_text(s, 1)) : NULL;
    for (size_t i = 0; i < N_COLUMNS; i++)
        take(s, (int)i + 2, &columns[i], (char *)out + columns[i].offset);
    return 1;
}

static void put_own(sqlite3_stmt *s, const struct st_trace_row *row)
{
    size_t len = strlen(row->name), end = strlen(".jsonl");

    if (row->no)
        sqlite3_bind_int64(s, 1, row->no);
    st_bind_str(s, 2, st_str(row->name));
    st_bind_str(s, 3, (struct st_str){.p = row->name, .len = len > end ? len - end : len});
    st_bind_str(s, 4, st_str(row->place.report.n_issues ? ST_CHAIN_BROKEN : ST_CHAIN_WHOLE));
    st_bind_str(s, 5, st_str(row->note));
}

int st_trace_row_save(struct st_db *db, struct st_trace_row *row, struct st_error *err)
{
    st_auto_buf sql = ST_BUF_INIT;
    st_auto_stmt s = NULL;
    int rc;

    st_buf_adds(&sql, "INSERT OR REPLACE INTO trace(no, name, container, chain, note");
    for (size_t i = 0; i < N_COLUMNS; i++)
        st_buf_addf(&sql, ", %s", columns[i].name);
    st_buf_adds(&sql, ") VALUES(?1, ?2, ?3, ?4, ?5");
    for (size_t i = 0; i < N_COLUMNS; i++)
        st_buf_addf(&sql, ", ?%zu", OWN + 1 + i);
    st_buf_addc(&sql, ')');
    rc = st_db_prepare(db, st_buf_cstr(&sql), &s, err);
    if (rc < 0)
        return rc;
    put_own(s, row);
    for (size_t i = 0; i < N_COLUMNS; i++)
        put(s, OWN + 1 + (int)i, &columns[i], (const char *)row + columns[i].offset);
    rc = st_db_run(db, s, err);
    if (rc == 0 && !row->no)
        row->no = sqlite3_last_insert_rowid(db->sq);
    return rc;
}
