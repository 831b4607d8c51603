/* db: see db.h. */
#include "desk/db.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "desk/schema.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BUSY_MS 10000
#define FOLDER_MODE 0750
#define FILE_MODE 0640
#define LOOK_EACH 20000 /* steps of SQLite's machine: a few hundred a second look at the clock */

int st_db_fail(const struct st_db *db, struct st_error *err, const char *what)
{
    int code = db->sq ? sqlite3_errcode(db->sq) & 0xff : SQLITE_NOMEM;
    int errnum = code == SQLITE_FULL ? ENOSPC : code == SQLITE_BUSY ? EBUSY : EIO;

    if (code == SQLITE_INTERRUPT)
        return st_fail(err, EINTR,
                       "this takes too long; a shorter time (since, until) or another filter helps");
    return st_fail(err, errnum, "%s: %s: %s", db->path, what,
                   db->sq ? sqlite3_errmsg(db->sq) : "out of memory");
}

static int is_too_late(void *arg)
{
    const struct st_db *db = arg;

    return db->until_ns && st_now_mono_ns() > db->until_ns;
}

void st_db_be_patient(struct st_db *db, int64_t ns)
{
    db->until_ns = st_now_mono_ns() + ns;
    sqlite3_progress_handler(db->sq, LOOK_EACH, is_too_late, db);
}

int st_db_exec(struct st_db *db, const char *sql, struct st_error *err)
{
    return sqlite3_exec(db->sq, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                    : st_db_fail(db, err, "can't be used");
}

int st_db_prepare(struct st_db *db, const char *sql, sqlite3_stmt **out, struct st_error *err)
{
    if (sqlite3_prepare_v3(db->sq, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) != SQLITE_OK)
        return st_db_fail(db, err, "can't be asked");
    return 0;
}

void st_stmt_freep(sqlite3_stmt **s)
{
    sqlite3_finalize(*s);
    *s = NULL;
}

int st_db_step(struct st_db *db, sqlite3_stmt *s, struct st_error *err)
{
    int rc = sqlite3_step(s);

    if (rc == SQLITE_ROW)
        return 1;
    return rc == SQLITE_DONE ? 0 : st_db_fail(db, err, "can't be read or written");
}

int st_db_run(struct st_db *db, sqlite3_stmt *s, struct st_error *err)
{
    int rc = st_db_step(db, s, err);

    sqlite3_reset(s);
    return rc < 0 ? rc : 0;
}

void st_bind_str(sqlite3_stmt *s, int at, struct st_str v)
{
    if (v.p)
        sqlite3_bind_text64(s, at, v.p, v.len, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(s, at);
}

struct st_str st_column_str(sqlite3_stmt *s, int at)
{
    const char *p = (const char *)sqlite3_column_text(s, at);

    return (struct st_str){.p = p, .len = p ? (size_t)sqlite3_column_bytes(s, at) : 0};
}

int st_db_make_folder(const char *path, struct st_error *err)
{
    const char *slash = strrchr(path, '/');
    st_auto_free char *folder = slash && slash != path ? st_xstrndup(path, (size_t)(slash - path)) : NULL;

    return folder ? st_mkdir_p(folder, FOLDER_MODE, err) : 0;
}

/* The file is made by us, so that it has our mode from its first byte on; SQLite gives its log the same. */
static int make_file(const char *path, struct st_error *err)
{
    st_auto_fd fd = -1;

    if (st_db_make_folder(path, err) < 0)
        return -err->errnum;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, FILE_MODE);
    return fd < 0 ? st_fail_errno(err, "open %s", path) : 0;
}

#define FILES 3
static const char *const endings[FILES] = {"", "-wal", "-shm"};

/* 0: it is not there. */
static uint64_t inode_of(const struct st_db *db, int i, uint64_t *dev)
{
    st_auto_free char *name = st_xasprintf("%s%s", db->path, endings[i]);
    struct stat sb;

    if (stat(name, &sb) < 0)
        return 0;
    *dev = sb.st_dev;
    return sb.st_ino;
}

static void remember_files(struct st_db *db)
{
    for (int i = 0; i < FILES; i++)
        db->ino[i] = inode_of(db, i, &db->dev);
}

/* A log that was deleted is written on, and read by nobody who comes later. */
bool st_db_was_replaced(const struct st_db *db)
{
    uint64_t dev = db->dev;

    for (int i = 0; i < FILES; i++)
        if (inode_of(db, i, &dev) != db->ino[i] || dev != db->dev)
            return true;
    return false;
}

/* Nothing in the file itself is trusted to run code of its own. */
static int settle(struct st_db *db, enum st_db_mode mode, struct st_error *err)
{
    sqlite3_busy_timeout(db->sq, BUSY_MS);
    sqlite3_db_config(db->sq, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->sq, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (mode == ST_DB_WRITE && st_schema_whose(db, err) < 0) /* before anything is written to it */
        return -err->errnum;
    if (st_db_exec(db,
                   mode == ST_DB_WRITE
                       ? "PRAGMA page_size=8192;PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                         "PRAGMA cache_size=-65536;PRAGMA temp_store=MEMORY;PRAGMA wal_autocheckpoint=16384;"
                         "PRAGMA journal_size_limit=67108864"
                       : "PRAGMA query_only=1;PRAGMA cache_size=-4096;PRAGMA temp_store=MEMORY",
                   err) < 0)
        return -err->errnum;
    return mode == ST_DB_WRITE ? st_schema_bring_up(db, err) : st_schema_check(db, err);
}

int st_db_open(const char *path, enum st_db_mode mode, struct st_db **out, struct st_error *err)
{
    st_auto_db db = st_xcalloc(1, sizeof(*db));
    int flags = mode == ST_DB_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, rc;

    db->path = st_xstrdup(path);
    if (mode == ST_DB_WRITE && make_file(path, err) < 0)
        return -err->errnum;
    if (access(path, F_OK) < 0)
        return st_fail_errno(err, "%s", path);
    if (sqlite3_open_v2(path, &db->sq, flags | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return st_db_fail(db, err, "can't be opened");
    rc = settle(db, mode, err);
    if (rc < 0)
        return rc;
    remember_files(db);
    *out = st_steal_ptr(&db);
    return 0;
}

void st_db_close(struct st_db *db)
{
    if (!db)
        return;
    sqlite3_close_v2(db->sq);
    free(db->path);
    free(db);
}

void st_db_closep(struct st_db **db)
{
    st_db_close(*db);
    *db = NULL;
}

/* What is not ours is not ours to delete. Ours may be spoilt: then it still begins as a database does. */
static int check_removable(const char *path, struct st_error *err)
{
    static const char magic[] = "SQLite format 3"; /* with its NUL */
    st_auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    char head[sizeof(magic)];
    struct st_db db = {.path = (char *)(uintptr_t)path};
    struct st_error why = {0};
    ssize_t n;
    int rc = 0;

    if (fd < 0)
        return errno == ENOENT ? 0 : st_fail_errno(err, "open %s", path);
    n = read(fd, head, sizeof(head));
    if (n < 0)
        return st_fail_errno(err, "read %s", path);
    if (n > 0 && (n < (ssize_t)sizeof(head) || memcmp(head, magic, sizeof(head)) != 0))
        return st_fail(err, EINVAL, "%s: is no database and is not deleted; move it away first", path);
    if (sqlite3_open_v2(path, &db.sq, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, NULL) == SQLITE_OK &&
        st_schema_whose(&db, &why) == -EPROTO)
        rc = st_fail(err, EPROTO, "%s", why.msg);
    sqlite3_close_v2(db.sq);
    return rc;
}

int st_db_remove(const char *path, struct st_error *err)
{
    if (check_removable(path, err) < 0)
        return -err->errnum;
    for (int i = FILES - 1; i >= 0; i--) {
        st_auto_free char *name = st_xasprintf("%s%s", path, endings[i]);

        if (unlink(name) < 0 && errno != ENOENT)
            return st_fail_errno(err, "remove %s", name);
    }
    return 0;
}
