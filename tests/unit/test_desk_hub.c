/* The ring of the review desk from which all live readers are served: who is too slow is told how many it
 * missed, and holds up nobody. */
#include "desk/http_hub.h"
#include "desk/http_query.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RING 4096 /* docs/review-desk.md */

static const char record[] =
    "{\"agent_id\":\"a\",\"event_id\":\"evt_01KMN081G0AVG5BEMGGPBQGSCZ\",\"event_type\":\"filesystem\","
    "\"evidence_tier\":\"kernel\",\"payload\":{\"access\":[\"write\"],\"blocked\":false,\"op\":\"modify\","
    "\"path\":\"/workspace/file.c\"},\"prev_hash\":null,"
    "\"record_hash\":\"sha256:b4ad55dc7128f6d8539aaf510ba7dba6e2b652060669a2eaab3010babaa7c915\","
    "\"schema_version\":\"1.0\",\"seq\":1,\"trace_id\":\"t\",\"verdict\":{\"action\":\"none\","
    "\"policy_rule\":\"scope\",\"policy_sha256\":null,\"reason\":null,\"result\":\"allow\",\"severity\":"
    "\"none\"},\"wall_time\":\"2026-03-26T12:00:00.000000Z\"}";

static int nobody(void *ctx, struct st_buf *ids, size_t *n, struct st_error *err)
{
    (void)ctx;
    (void)ids;
    (void)err;
    *n = 0;
    return 0;
}

/* Lives as long as the process, as its threads do. */
static struct st_stream_hub *hub(void)
{
    static const struct st_live live = {.list = nobody};
    static struct st_stream_hub *h;
    struct st_error err = {0};

    if (!h)
        assert_int_equal(st_hub_new(&live, &h, &err), 0);
    return h;
}

static struct st_reader *reader(const char *filter)
{
    struct st_error err = {0};
    struct st_query q;
    struct st_reader *r;

    assert_int_equal(st_query_parse(filter, strlen(filter), &q, &err), 0);
    r = st_reader_new(hub(), &q, &err);
    assert_non_null(r);
    return r;
}

static void say(unsigned times)
{
    while (times-- > 0)
        st_hub_line(hub(), "box", st_str(record));
}

/* How many records it is given, and what it is told to have missed (-1: nothing). */
static unsigned take_all(struct st_reader *r, long *missed)
{
    unsigned records = 0;
    char text[8192];
    size_t n;

    *missed = -1;
    while ((n = st_reader_take(r, text, sizeof(text) - 1, 1)) > 0) {
        static const char begin[] = "event: gap\ndata: {\"missed\":";
        const char *gap;

        text[n] = '\0';
        records += strstr(text, "event: record\n") != NULL;
        gap = strstr(text, begin);
        if (gap)
            *missed = strtol(gap + sizeof(begin) - 1, NULL, 10);
    }
    return records;
}

static void a_reader_that_is_too_slow_is_told_how_many_it_missed(void **state)
{
    struct st_reader *slow = reader(""), *quick = reader("");
    unsigned got = 0;
    long missed;

    (void)state;
    for (int i = 0; i < 50; i++) {
        say(100);
        got += take_all(quick, &missed);
        assert_int_equal(missed, -1);
    }
    assert_int_equal(got, 5000);
    assert_int_equal(take_all(slow, &missed), RING);
    assert_int_equal(missed, 5000 - RING);
    say(1); /* and goes on as if nothing had been */
    assert_int_equal(take_all(slow, &missed), 1);
    assert_int_equal(missed, -1);
    st_reader_free(slow);
    st_reader_free(quick);
}

static void what_a_monitor_could_not_say_is_told_to_all(void **state)
{
    struct st_reader *all = reader(""), *some = reader("severity=critical");
    long missed;

    (void)state;
    say(2);
    st_hub_line(hub(), "box", st_str("{\"id\":\"box\",\"last_seq\":7,\"missed\":5}"));
    assert_int_equal(take_all(all, &missed), 2);
    assert_int_equal(missed, 5);
    assert_int_equal(take_all(some, &missed), 0);
    assert_int_equal(missed, 5);
    st_reader_free(all);
    st_reader_free(some);
}

static void more_readers_than_there_is_room_for_are_refused(void **state)
{
    struct st_reader *list[ST_READERS_MAX];
    struct st_error err = {0};
    struct st_query q;

    (void)state;
    for (size_t i = 0; i < ST_READERS_MAX; i++)
        list[i] = reader("");
    assert_int_equal(st_query_parse("", 0, &q, &err), 0);
    assert_null(st_reader_new(hub(), &q, &err));
    assert_int_equal(err.errnum, EBUSY);
    st_query_free(&q);
    for (size_t i = 0; i < ST_READERS_MAX; i++)
        st_reader_free(list[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_that_is_too_slow_is_told_how_many_it_missed),
        cmocka_unit_test(what_a_monitor_could_not_say_is_told_to_all),
        cmocka_unit_test(more_readers_than_there_is_room_for_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
