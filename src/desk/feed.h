/* feed: rows that lie in memory, as a table that SQLite reads itself.
 *
 * INSERT INTO there SELECT * FROM feed takes them all in one statement. A statement for each row opens its
 * cursors and looks for its place from the root each time, which costs more than what it writes. */
#pragma once

#include "desk/db.h"

/* Gives column `at` of row i by sqlite3_result_…; text is borrowed. */
typedef void st_feed_fn(const void *rows, size_t i, int at, sqlite3_context *out);

struct st_feed;

/* A table of this name with so many columns, on this connection, to which it belongs: it goes when that is
 * closed. */
int st_feed_new(struct st_db *db, const char *name, int columns, st_feed_fn *column, struct st_feed **out,
                struct st_error *err);

/* Runs a statement that reads n rows. */
int st_feed_run(struct st_feed *feed, const void *rows, size_t n, sqlite3_stmt *s, struct st_error *err);

/* Text, or NULL where p is. */
void st_result_str(sqlite3_context *out, struct st_str v);
