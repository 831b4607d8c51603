/* The database as the server reads it: nobody who asks for too much keeps a worker, and what is told live is
 * what a search would find. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "desk/desk.h"
#include "desk/http_live_event.h"
#include "desk/http_sets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENDLESS "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
#define SECOND INT64_C(1000000000)

static int ask(struct st_db *db, const char *sql, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(db, sql, &s, err);

    return rc < 0 ? rc : st_db_step(db, s, err);
}

static void what_takes_too_long_is_given_up(void **state)
{
    char dir[] = "/tmp/test_db.XXXXXX", path[64];
    struct st_error err = {0};
    struct st_http_answer a = {0};
    struct st_db *made = NULL, *db = NULL;
    struct st_desk desk = {.db_path = path};
    struct st_call call = {.desk = &desk, .a = &a, .db = &db};
    int64_t before = st_now_mono_ns();

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/events.db", dir);
    assert_int_equal(st_db_open(path, ST_DB_WRITE, &made, &err), 0);
    /* Whoever answers a request has so long, and each request anew. */
    assert_non_null(st_call_db(&call));
    assert_true(db->until_ns >= before + 3 * SECOND && db->until_ns < st_now_mono_ns() + 4 * SECOND);
    st_db_be_patient(db, SECOND / 50);
    assert_int_equal(ask(db, ENDLESS, &err), -EINTR);
    assert_non_null(strstr(err.msg, "takes too long"));
    assert_non_null(st_call_db(&call));
    assert_int_equal(ask(db, "SELECT count(*) FROM trace", &err), 1);
    st_db_close(db);
    st_db_close(made);
    assert_int_equal(st_db_remove(path, &err), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* Is it found by the search of the database? */
static bool is_found(sqlite3 *sq, const char *text, const char *query)
{
    st_auto_buf words = ST_BUF_INIT;
    sqlite3_stmt *s = NULL;
    bool found;

    st_sets_words(query, &words);
    assert_int_equal(sqlite3_exec(sq, "INSERT INTO t(t) VALUES('delete-all')", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sq, "INSERT INTO t(rowid, body) VALUES(1, ?1)", -1, &s, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(s, 1, text, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
    assert_int_equal(sqlite3_prepare_v2(sq, "SELECT rowid FROM t WHERE t MATCH ?1", -1, &s, NULL), SQLITE_OK);
    sqlite3_bind_text(s, 1, st_buf_cstr(&words), -1, SQLITE_STATIC);
    found = sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return found;
}

static void what_is_looked_for_is_found_live_as_in_the_database(void **state)
{
    static const char *const texts[] = {"/etc/passwd",
                                        "/usr/bin/fetch --out x",
                                        "api-7.example.com:443 192.0.2.7",
                                        "/tmp/<script>alert(1)</script>",
                                        "",
                                        "//",
                                        "a",
                                        "/workspace/Readme.MD",
                                        "/tmp/na\xc3\xafve file",
                                        "/root/.ssh/id_ed25519"};
    static const char *const queries[] = {"etc",        "ETC/pass",      "/etc/passwd",     "passwd etc",
                                          "tch",        "fetch out",     "--out",           "/",
                                          "/ etc",      "api-7.example", "example.com:4",   "7.com",
                                          "192.0.2",    "script",        "<script>alert(1", "\"",
                                          "a b",        "readme.md",     "na\xc3\xafve",    "na\xc3\xaf",
                                          "id ed25519", "id_ed",         "ssh/id",          "x fetch",
                                          "xx",         "1 script"};
    sqlite3 *sq = NULL;

    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &sq), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sq,
                                  "CREATE VIRTUAL TABLE t USING fts5(body, content='',"
                                  " tokenize='unicode61 remove_diacritics 0')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        for (size_t j = 0; j < sizeof(queries) / sizeof(queries[0]); j++)
            if (st_live_words(texts[i], queries[j]) != is_found(sq, texts[i], queries[j]))
                fail_msg("%s in %s: live %d", queries[j], texts[i], st_live_words(texts[i], queries[j]));
    sqlite3_close(sq);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_takes_too_long_is_given_up),
        cmocka_unit_test(what_is_looked_for_is_found_live_as_in_the_database),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
