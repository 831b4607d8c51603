/* Requests answered by a worker without a container: what each changes, records and says. */
#include "base/json.h"
#include "unit.h"
#include "worker_support.h"

#include <stdio.h>
#include <stdlib.h>

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct worker_fixture));
    worker_fixture_open(*state);
    return 0;
}

static int tear_down(void **state)
{
    worker_fixture_close(*state);
    free(*state);
    return 0;
}

static void assert_has(const char *answer, const char *part)
{
    if (!strstr(answer, part))
        fail_msg("%s is not in %s", part, answer);
}

static void twenty_that_wait_are_all_listed_and_each_can_be_decided(void **state)
{
    struct worker_fixture *f = *state;
    char ids[20][ST_PAUSE_ID_SIZE], request[128];
    const char *answer;

    for (int i = 0; i < 20; i++)
        memcpy(ids[i], worker_fixture_hold(f)->id, sizeof(ids[i]));
    answer = worker_fixture_ask(f, "{\"request\":\"pending\"}");
    for (int i = 0; i < 20; i++)
        assert_has(answer, ids[i]);
    assert_has(worker_fixture_ask(f, "{\"request\":\"approve\"}"), "\"code\":\"ambiguous\"");
    for (int i = 19; i >= 0; i--) {
        snprintf(request, sizeof(request), "{\"pause_id\":\"%s\",\"request\":\"%s\"}", ids[i],
                 i % 2 ? "approve" : "deny");
        assert_has(worker_fixture_ask(f, request), "\"ok\":true");
        assert_has(worker_fixture_ask(f, request), "\"code\":\"no_such_pause\"");
    }
    assert_int_equal(f->allowed, 10);
    assert_int_equal(f->refused, 10);
    assert_int_equal(f->worker.news.by_type[ST_EV_SECURITY_RESUME], 20);
}

static void more_than_a_line_holds_are_listed_without_their_events(void **state)
{
    struct worker_fixture *f = *state;
    st_auto_json doc = NULL;
    const struct st_json_node *list;
    const char *answer;
    size_t with = 0, n = 0;

    for (int i = 0; i < 2500; i++)
        worker_fixture_hold(f);
    answer = worker_fixture_ask(f, "{\"request\":\"pending\"}");
    assert_true(strlen(answer) < (size_t)1 << 20);
    assert_int_equal(st_json_parse(answer, strlen(answer), ST_JSON_DEFAULT_LIMITS, &doc, NULL), 0);
    list = st_json_get(st_json_root(doc), "pending");
    st_json_each (item, list) {
        assert_non_null(st_json_str(st_json_get(item, "pause_id"), NULL));
        with += st_json_is(st_json_get(item, "event"), ST_JSON_OBJECT);
        n++;
    }
    assert_int_equal(n, 2500);
    assert_true(with > 500 && with < 2500);
}

static void the_place_of_the_rule_is_told(void **state)
{
    struct worker_fixture *f = *state;
    char part[128];
    const char *answer;

    worker_fixture_hold(f);
    answer = worker_fixture_ask(f, "{\"request\":\"pending\"}");
    snprintf(part, sizeof(part), "\"rule_file\":\"%s/p.yaml\",\"rule_line\":6", f->dir);
    assert_has(answer, part);
}

static void a_kill_decides_about_all_that_waits_and_is_recorded_for_each(void **state)
{
    struct worker_fixture *f = *state;

    for (int i = 0; i < 5; i++)
        worker_fixture_hold(f);
    assert_has(worker_fixture_ask(f, "{\"request\":\"kill\"}"), "\"ok\":true");
    assert_int_equal(f->killed, 1);
    assert_int_equal(f->refused, 5);
    assert_int_equal(f->worker.news.by_type[ST_EV_SECURITY_RESUME], 5);
    assert_has(worker_fixture_ask(f, "{\"request\":\"kill\"}"), "\"ok\":true");
    assert_int_equal(f->killed, 2);
    assert_int_equal(f->worker.news.by_type[ST_EV_SECURITY_RESUME], 6);
}

static void resume_by_force_refuses_what_waits(void **state)
{
    struct worker_fixture *f = *state;

    assert_has(worker_fixture_ask(f, "{\"request\":\"resume\"}"), "\"code\":\"not_paused\"");
    worker_fixture_hold(f);
    worker_fixture_hold(f);
    assert_has(worker_fixture_ask(f, "{\"request\":\"resume\"}"), "\"code\":\"pending\"");
    assert_int_equal(f->refused, 0);
    assert_has(worker_fixture_ask(f, "{\"force\":true,\"request\":\"resume\"}"), "\"ok\":true");
    assert_int_equal(f->refused, 2);
}

static void what_can_not_be_frozen_is_not_said_to_be_paused(void **state)
{
    struct worker_fixture *f = *state;
    const char *answer = worker_fixture_ask(f, "{\"request\":\"pause\"}");

    assert_has(answer, "\"code\":\"cannot_freeze\"");
    assert_has(answer, "there is nothing to freeze");
    assert_int_equal(f->worker.pipeline.pauses.n, 0);
    assert_int_equal(f->worker.news.by_type[ST_EV_SECURITY_PAUSE], 0);
}

static void a_reload_that_fails_changes_nothing(void **state)
{
    struct worker_fixture *f = *state;
    struct st_policy *before = f->worker.pipeline.policy;
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/p.yaml", f->dir);
    file = fopen(path, "ae");
    fputs("colour: green\n", file);
    fclose(file);
    assert_has(worker_fixture_ask(f, "{\"request\":\"reload\"}"), "\"code\":\"policy_invalid\"");
    assert_ptr_equal(f->worker.pipeline.policy, before);
    assert_int_equal(f->worker.news.by_type[ST_EV_POLICY_CHANGE], 0);
}

static void a_reload_is_recorded_and_decides_from_then_on(void **state)
{
    struct worker_fixture *f = *state;
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/p.yaml", f->dir);
    file = fopen(path, "ae");
    fputs("  - id: more\n    type: filesystem\n    action: deny\n    paths: [/etc/gshadow]\n", file);
    fclose(file);
    assert_has(worker_fixture_ask(f, "{\"request\":\"reload\"}"), "\"changed\":true");
    assert_int_equal(f->worker.news.by_type[ST_EV_POLICY_CHANGE], 1);
    worker_fixture_hold(f);
    assert_has(worker_fixture_ask(f, "{\"request\":\"reload\"}"), "\"changed\":false");
    assert_int_equal(f->worker.news.by_type[ST_EV_POLICY_CHANGE], 1);
}

static void a_backlog_that_is_gone_is_told(void **state)
{
    struct worker_fixture *f = *state;
    const char *answer;
    char part[64];

    for (int i = 0; i < 1000; i++)
        worker_fixture_hold(f);
    assert_true(f->worker.news.ring.first_seq > 2);
    answer = worker_fixture_ask(f, "{\"request\":\"events\",\"since\":1}");
    snprintf(part, sizeof(part), "\"last_seq\":%llu,\"missed\":%llu}",
             (unsigned long long)f->worker.news.ring.first_seq - 1,
             (unsigned long long)f->worker.news.ring.first_seq - 2);
    assert_has(answer, part);
    assert_has(answer, "\"end\":true");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    static const struct CMUnitTest tests[] = {
        TEST(twenty_that_wait_are_all_listed_and_each_can_be_decided),
        TEST(more_than_a_line_holds_are_listed_without_their_events),
        TEST(the_place_of_the_rule_is_told),
        TEST(a_kill_decides_about_all_that_waits_and_is_recorded_for_each),
        TEST(resume_by_force_refuses_what_waits),
        TEST(what_can_not_be_frozen_is_not_said_to_be_paused),
        TEST(a_reload_that_fails_changes_nothing),
        TEST(a_reload_is_recorded_and_decides_from_then_on),
        TEST(a_backlog_that_is_gone_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
