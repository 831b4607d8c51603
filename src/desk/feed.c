/* feed: see feed.h. An eponymous virtual table: there without being created, and never in the file. */
#include "desk/feed.h"

#include "base/mem.h"

#include <stdlib.h>

struct st_feed {
    struct st_db *db;
    int columns;
    st_feed_fn *column;
    const void *rows;
    size_t n;
};

struct table {
    sqlite3_vtab base;
    const struct st_feed *feed;
};

struct cursor {
    sqlite3_vtab_cursor base;
    size_t at;
};

static const struct st_feed *feed_of(const sqlite3_vtab_cursor *c)
{
    return ((const struct table *)c->pVtab)->feed;
}

static int connect(sqlite3 *sq, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **said)
{
    const struct st_feed *feed = aux;
    sqlite3_str *sql = sqlite3_str_new(sq);
    struct table *t;
    char *text;
    int rc;

    (void)argc, (void)argv, (void)said;
    for (int i = 0; i < feed->columns; i++)
        sqlite3_str_appendf(sql, "%s c%d", i ? "," : "CREATE TABLE x(", i);
    sqlite3_str_appendall(sql, ")");
    text = sqlite3_str_finish(sql);
    rc = text ? sqlite3_declare_vtab(sq, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (rc != SQLITE_OK)
        return rc;
    t = st_xcalloc(1, sizeof(*t));
    t->feed = feed;
    *out = &t->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *t)
{
    free(t);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *t, sqlite3_index_info *info)
{
    info->estimatedRows = (sqlite3_int64)((struct table *)t)->feed->n;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
    struct cursor *c = st_xcalloc(1, sizeof(*c));

    (void)t;
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
    free(c);
    return SQLITE_OK;
}

static int rewind_cursor(sqlite3_vtab_cursor *c, int no, const char *name, int argc, sqlite3_value **argv)
{
    (void)no, (void)name, (void)argc, (void)argv;
    ((struct cursor *)c)->at = 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *c)
{
    ((struct cursor *)c)->at++;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *c)
{
    return ((struct cursor *)c)->at >= feed_of(c)->n;
}

static int give_column(sqlite3_vtab_cursor *c, sqlite3_context *out, int at)
{
    const struct st_feed *feed = feed_of(c);

    feed->column(feed->rows, ((struct cursor *)c)->at, at, out);
    return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((struct cursor *)c)->at;
    return SQLITE_OK;
}

static const sqlite3_module module = {.xConnect = connect,
                                      .xDisconnect = disconnect,
                                      .xBestIndex = best_index,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = rewind_cursor,
                                      .xNext = next_row,
                                      .xEof = at_end,
                                      .xColumn = give_column,
                                      .xRowid = give_rowid};

int st_feed_new(struct st_db *db, const char *name, int columns, st_feed_fn *column, struct st_feed **out,
                struct st_error *err)
{
    struct st_feed *feed = st_xcalloc(1, sizeof(*feed));

    *feed = (struct st_feed){.db = db, .columns = columns, .column = column};
    if (sqlite3_create_module_v2(db->sq, name, &module, feed, free) != SQLITE_OK)
        return st_db_fail(db, err, "can't be used"); /* which has freed it */
    *out = feed;
    return 0;
}

int st_feed_run(struct st_feed *feed, const void *rows, size_t n, sqlite3_stmt *s, struct st_error *err)
{
    int rc;

    feed->rows = rows;
    feed->n = n;
    rc = n ? st_db_run(feed->db, s, err) : 0;
    feed->rows = NULL;
    feed->n = 0;
    return rc;
}

void st_result_str(sqlite3_context *out, struct st_str v)
{
    if (v.p)
        sqlite3_result_text64(out, v.p, v.len, SQLITE_STATIC, SQLITE_UTF8);
}
