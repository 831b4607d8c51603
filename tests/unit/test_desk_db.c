/* The database as the server reads it: nobody who asks for too much keeps a worker. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "desk/desk.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_takes_too_long_is_given_up)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
