/* db: the file of the review desk: opened, brought to the present schema, and statements on it.
 *
 * SQLite with a write-ahead log: one writer, any number of readers, a process killed at any moment leaves
 * what was committed. What the traces say can be read from them again, so that a file of a later schema, or
 * one that is no database, is refused and never guessed at. Fails as everything (docs/errors.md): -EIO with
 * SQLite's own words unless another errno fits better. */
#pragma once

#include "base/error.h"
#include "model/str.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct st_db {
    sqlite3 *sq;
    char *path;
    uint64_t dev, ino[3]; /* of the files that are open: itself, its log, the log's index; 0: not there */
    int64_t until_ns;     /* READ: what is asked is given up then; 0: never */
};

enum st_db_mode { ST_DB_WRITE, ST_DB_READ };

/* WRITE: the folder and the file are made where they are missing (0750, 0640), the schema is brought up.
 * READ: it must be there with the present schema (-ENOENT, -EPROTO). */
int st_db_open(const char *path, enum st_db_mode mode, struct st_db **out, struct st_error *err);
void st_db_close(struct st_db *db);
void st_db_closep(struct st_db **db);
#define st_auto_db __attribute__((cleanup(st_db_closep))) struct st_db *

/* Whatever is asked from now on has this long, all together; then it fails with -EINTR. For READ. */
void st_db_be_patient(struct st_db *db, int64_t ns);

/* The folder of a database, where it is missing. */
int st_db_make_folder(const char *path, struct st_error *err);

/* Is there another file, or none, where ours was opened, or its log? */
bool st_db_was_replaced(const struct st_db *db);

/* Removes the file with its log. Nobody has it open. -EINVAL, -EPROTO: it is no database, or another
 * program's. */
int st_db_remove(const char *path, struct st_error *err);

/* -EIO and what SQLite says. */
int st_db_fail(const struct st_db *db, struct st_error *err, const char *what);

/* One or more statements without results. */
int st_db_exec(struct st_db *db, const char *sql, struct st_error *err);

/* A statement that is used often. */
int st_db_prepare(struct st_db *db, const char *sql, sqlite3_stmt **out, struct st_error *err);
void st_stmt_freep(sqlite3_stmt **s);
#define st_auto_stmt __attribute__((cleanup(st_stmt_freep))) sqlite3_stmt *

/* Runs a statement that gives no row, and makes it ready for the next time. */
int st_db_run(struct st_db *db, sqlite3_stmt *s, struct st_error *err);

/* One step: 1 a row, 0 the end, negative. The caller resets. */
int st_db_step(struct st_db *db, sqlite3_stmt *s, struct st_error *err);

/* Text, or NULL where p is; borrowed until the statement has run. */
void st_bind_str(sqlite3_stmt *s, int at, struct st_str v);
struct st_str st_column_str(sqlite3_stmt *s, int at);
