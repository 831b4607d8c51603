/* Rows from memory, and chunks of events that another thread writes: all, once, in their order, or a failure
 * that is told and after which nothing comes. */
#include "unit.h"

#include "base/cleanup.h"
#include "desk/feed.h"
#include "desk/pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct desk {
    char dir[64], path[96];
    struct st_db *db;
    struct st_rows *rows;
    struct st_pipeline *pipeline;
};

static int set_up(void **state)
{
    struct desk *d = calloc(1, sizeof(*d));
    struct st_error err = {0};

    assert_non_null(d);
    snprintf(d->dir, sizeof(d->dir), "/tmp/test_pipeline.XXXXXX");
    assert_non_null(mkdtemp(d->dir));
    snprintf(d->path, sizeof(d->path), "%s/events.db", d->dir);
    assert_int_equal(st_db_open(d->path, ST_DB_WRITE, &d->db, &err), 0);
    assert_int_equal(st_rows_new(d->db, &d->rows, &err), 0);
    d->pipeline = st_pipeline_new(d->rows);
    *state = d;
    return 0;
}

static int tear_down(void **state)
{
    struct desk *d = *state;
    struct st_error err = {0};

    st_pipeline_free(d->pipeline);
    st_rows_free(d->rows);
    st_db_close(d->db);
    assert_int_equal(st_db_remove(d->path, &err), 0);
    assert_int_equal(rmdir(d->dir), 0);
    free(d);
    return 0;
}

/* What a query that gives one number says. */
static int64_t number(struct desk *d, const char *sql)
{
    struct st_error err = {0};
    st_auto_stmt s = NULL;

    assert_int_equal(st_db_prepare(d->db, sql, &s, &err), 0);
    assert_int_equal(st_db_step(d->db, s, &err), 1);
    return sqlite3_column_int64(s, 0);
}

/* ---- feed ---- */

struct pair {
    int64_t number;
    struct st_str word;
};

static void column_of_pair(const void *rows, size_t i, int at, sqlite3_context *out)
{
    const struct pair *p = (const struct pair *)rows + i;

    if (at == 0)
        sqlite3_result_int64(out, p->number);
    else
        st_result_str(out, p->word);
}

static struct st_feed *pairs_to(struct desk *d, sqlite3_stmt **copy)
{
    struct st_error err = {0};
    struct st_feed *feed = NULL;

    assert_int_equal(st_db_exec(d->db, "CREATE TABLE pair(number, word)", &err), 0);
    assert_int_equal(st_feed_new(d->db, "new_pair", 2, column_of_pair, &feed, &err), 0);
    assert_int_equal(st_db_prepare(d->db, "INSERT INTO pair SELECT * FROM new_pair", copy, &err), 0);
    return feed;
}

static void rows_in_memory_are_read_by_one_statement(void **state)
{
    static const struct pair pairs[] = {{7, {"seven", 5}}, {0, {NULL, 0}}, {-3, {"a\0b", 3}}, {7, {"", 0}}};
    struct desk *d = *state;
    struct st_error err = {0};
    st_auto_stmt copy = NULL;
    struct st_feed *feed = pairs_to(d, &copy);

    assert_int_equal(st_feed_run(feed, pairs, 3, copy, &err), 0);
    assert_int_equal(number(d, "SELECT count(*) FROM pair"), 3);
    assert_int_equal(number(d, "SELECT number FROM pair WHERE word = 'seven' AND rowid = 1"), 7);
    assert_int_equal(number(d, "SELECT count(*) FROM pair WHERE word IS NULL AND rowid = 2"), 1);
    assert_int_equal(number(d, "SELECT count(*) FROM pair WHERE word = 'a' || char(0) || 'b'"), 1);
    assert_int_equal(st_feed_run(feed, pairs + 3, 1, copy, &err), 0);
    assert_int_equal(number(d, "SELECT count(*) FROM pair WHERE word = ''"), 1);
}

static void a_feed_that_is_given_nothing_has_nothing(void **state)
{
    struct desk *d = *state;
    struct st_error err = {0};
    st_auto_stmt copy = NULL;
    struct st_feed *feed = pairs_to(d, &copy);

    assert_int_equal(st_feed_run(feed, NULL, 0, copy, &err), 0);
    assert_int_equal(st_db_run(d->db, copy, &err), 0); /* by itself: what was lent is not kept */
    assert_int_equal(number(d, "SELECT count(*) FROM pair"), 0);
}

/* ---- pipeline ---- */

/* Adds event number seq; the path is as long as it is told. */
static int add(struct desk *d, int64_t trace, unsigned seq, size_t path_len, struct st_error *err)
{
    st_auto_buf line = ST_BUF_INIT, scratch = ST_BUF_INIT;
    st_auto_free char *path = calloc(1, path_len + 1);
    struct st_frame f;
    const char *why = "";

    assert_non_null(path);
    memset(path, 'p', path_len);
    st_buf_addf(&line,
                "{\"agent_id\":\"a\",\"event_id\":\"evt_01KMN081G0AVG5BEMGGPBQGSCZ\",\"event_type\":"
                "\"filesystem\",\"evidence_tier\":\"kernel\",\"payload\":{\"blocked\":false,\"op\":\"open\","
                "\"path\":\"/%u/%s\"},\"prev_hash\":null,\"record_hash\":\"sha256:%064d\","
                "\"schema_version\":\"1.0\",\"seq\":%u,\"trace_id\":\"t\",\"verdict\":{\"action\":\"none\","
                "\"policy_rule\":\"scope\",\"policy_sha256\":null,\"reason\":null,\"result\":\"allow\","
                "\"severity\":\"none\"},\"wall_time\":\"2026-03-26T12:00:00.000000Z\"}",
                seq, path, 0, seq);
    if (st_frame_read((struct st_str){line.data, line.len}, &scratch, &f, &why) != ST_FRAME_OK)
        fail_msg("%s", why);
    return st_pipeline_add(d->pipeline, trace, false, &f, err);
}

static void add_many(struct desk *d, int64_t trace, unsigned from, unsigned to)
{
    struct st_error err = {0};

    for (unsigned seq = from; seq < to; seq++)
        assert_int_equal(add(d, trace, seq, 10, &err), 0);
}

static void commit(struct desk *d)
{
    struct st_error err = {0};

    assert_int_equal(st_pipeline_drain(d->pipeline, &err), 0);
    assert_int_equal(st_rows_commit(d->rows, &err), 0);
}

static void many_events_are_there_once_and_in_their_order(void **state)
{
    struct desk *d = *state;

    add_many(d, 1, 1, 20001);
    commit(d);
    assert_int_equal(number(d, "SELECT count(*) FROM sandbox_audit_event"), 20000);
    assert_int_equal(number(d, "SELECT count(*) FROM sandbox_audit_event WHERE id <> seq"), 0);
    assert_int_equal(
        number(d,
               "SELECT count(*) FROM sandbox_audit_event WHERE path_or_addr <> '/' || seq || '/pppppppppp'"),
        0);
}

static void few_events_need_no_thread(void **state)
{
    struct desk *d = *state;

    add_many(d, 1, 1, 4);
    commit(d);
    assert_int_equal(number(d, "SELECT count(*) FROM sandbox_audit_event"), 3);
    add_many(d, 1, 4, 6);
    commit(d);
    assert_int_equal(number(d, "SELECT max(seq) FROM sandbox_audit_event"), 5);
}

static void traces_that_take_turns_keep_their_own(void **state)
{
    struct desk *d = *state;

    for (unsigned turn = 0; turn < 50; turn++)
        add_many(d, 1 + turn % 3, 100 * turn + 1, 100 * (turn + 1) + 1);
    commit(d);
    assert_int_equal(number(d, "SELECT count(*) FROM sandbox_audit_event"), 5000);
    assert_int_equal(
        number(d, "SELECT count(*) FROM sandbox_audit_event WHERE trace <> 1 + ((seq - 1) / 100) % 3"), 0);
}

static void an_event_larger_than_a_chunk_has_one_for_itself(void **state)
{
    struct desk *d = *state;
    struct st_error err = {0};

    add_many(d, 1, 1, 2000);
    assert_int_equal(add(d, 1, 2000, (size_t)3 << 20, &err), 0);
    add_many(d, 1, 2001, 4001);
    commit(d);
    assert_int_equal(number(d, "SELECT count(*) FROM sandbox_audit_event WHERE id = seq"), 4000);
    assert_true(number(d, "SELECT length(raw_detail) FROM sandbox_audit_event WHERE seq = 2000") > 3 << 20);
}

/* The database ends all writing by an error of its own, as a full disk does. */
static void fail_from(struct desk *d, unsigned seq)
{
    st_auto_free char *sql = NULL;
    struct st_error err = {0};

    assert_true(asprintf(&sql,
                         "CREATE TEMP TRIGGER full BEFORE INSERT ON main.sandbox_audit_event "
                         "WHEN NEW.seq = %u BEGIN SELECT RAISE(FAIL, 'no room'); END",
                         seq) > 0);
    assert_int_equal(st_db_exec(d->db, sql, &err), 0);
}

/* The failure of event 1500, which is told when some more have been added. */
static void add_until_failure(struct desk *d, struct st_error *err)
{
    unsigned seq = 1;

    fail_from(d, 1500);
    while (seq < 20000 && add(d, 1, seq, 10, err) == 0)
        seq++;
    assert_true(seq > 1500 && seq < 20000);
}

static void a_chunk_that_fails_is_told_and_none_is_written_after_it(void **state)
{
    struct desk *d = *state;
    struct st_error err = {0};

    add_until_failure(d, &err);
    assert_int_equal(err.errnum, EIO);
    assert_non_null(strstr(err.msg, "no room"));
    assert_int_equal(number(d, "SELECT max(seq) FROM sandbox_audit_event"), 1499);
    err = (struct st_error){0};
    assert_int_equal(st_pipeline_drain(d->pipeline, &err), -EIO);
    assert_non_null(strstr(err.msg, "no room"));
    assert_int_equal(number(d, "SELECT max(seq) FROM sandbox_audit_event"), 1499);
}

static void after_a_failure_it_begins_anew(void **state)
{
    struct desk *d = *state;
    struct st_error err = {0};

    add_until_failure(d, &err);
    st_pipeline_rest(d->pipeline);
    st_rows_rollback(d->rows);
    assert_int_equal(st_db_exec(d->db, "DROP TRIGGER full", &err), 0);
    assert_int_equal(number(d, "SELECT count(*) FROM sandbox_audit_event"), 0);
    add_many(d, 1, 1, 5001);
    commit(d);
    assert_int_equal(
        number(d, "SELECT count(*) FROM sandbox_audit_event WHERE path_or_addr LIKE '/' || seq || '/%'"),
        5000);
}

static void what_was_not_drained_is_forgotten(void **state)
{
    struct desk *d = *state;

    add_many(d, 1, 1, 10);
    st_pipeline_rest(d->pipeline);
    add_many(d, 1, 10, 20);
    commit(d);
    assert_int_equal(number(d, "SELECT min(seq) FROM sandbox_audit_event"), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_in_memory_are_read_by_one_statement, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_feed_that_is_given_nothing_has_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_events_are_there_once_and_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(few_events_need_no_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(traces_that_take_turns_keep_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_larger_than_a_chunk_has_one_for_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chunk_that_fails_is_told_and_none_is_written_after_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(after_a_failure_it_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_not_drained_is_forgotten, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
