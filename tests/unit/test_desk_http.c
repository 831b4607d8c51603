/* The parts of the review desk's server that need no network: queries, cursors, cookies, limits, and who is
 * let in. */
#include "desk/desk.h"
#include "desk/http_find.h"
#include "desk/http_sets.h"
#include "unit.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static int parse(const char *text, struct st_query *q)
{
    struct st_error err = {0};

    return st_query_parse(text, strlen(text), q, &err);
}

static void a_query_is_taken_apart(void **state)
{
    struct st_query q;

    (void)state;
    assert_int_equal(parse("a=1&b=x%20y+z&&c&d=", &q), 0);
    assert_string_equal(st_query_get(&q, "a"), "1");
    assert_string_equal(st_query_get(&q, "b"), "x y z");
    assert_string_equal(st_query_get(&q, "c"), "");
    assert_string_equal(st_query_get(&q, "d"), "");
    assert_null(st_query_get(&q, "e"));
    st_query_free(&q);
}

static void a_query_that_is_no_text_is_refused(void **state)
{
    static const char *const bad[] = {"a=%",   "a=%4",     "a=%zz", "a=%00", "a=%0a",       "a=\x01",
                                      "a=%ff", "a=%c0%80", "=1",    "a&a",   "a=1&b=2&a=3", "a=%ed%a0%80"};
    char many[512] = "";
    struct st_query q;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(parse(bad[i], &q), -EINVAL);
    for (int i = 0; i <= ST_QUERY_PARTS; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "p%d=&", i);
    assert_int_equal(parse(many, &q), -EINVAL);
}

static void filters_are_read_and_wrong_ones_named(void **state)
{
    struct st_error err = {0};
    struct st_find f;
    struct st_query q;

    (void)state;
    parse("severity=high,,critical&blocked=true&since=-15m&until=2026-01-01T00:00:00Z&q=ssh", &q);
    assert_int_equal(st_find_parse(&q, 1000000000000000, &f, &err), 0);
    assert_int_equal(f.severity.n, 2);
    assert_memory_equal(f.severity.words[1].p, "critical", 8);
    assert_int_equal(f.blocked, 1);
    assert_true(f.since == 1000000000000000 - 15 * 60 * INT64_C(1000000));
    assert_false(f.after);
    st_query_free(&q);
    parse("blocked=maybe", &q);
    assert_int_equal(st_find_parse(&q, 0, &f, &err), -EINVAL);
    assert_non_null(strstr(err.msg, "blocked"));
    st_query_free(&q);
}

static void a_cursor_comes_back_as_it_went_and_no_other_is_taken(void **state)
{
    const struct st_event_at at[] = {{0, 1}, {-5, 7}, {INT64_MAX, INT64_MAX}, {1774526400000000, 123456789}};
    char text[ST_CURSOR_SIZE];
    struct st_event_at got;

    (void)state;
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        st_cursor_write(&at[i], text);
        assert_true(st_cursor_read(text, &got));
        assert_true(got.ts == at[i].ts && got.id == at[i].id);
    }
    text[3] = 'G';
    assert_false(st_cursor_read(text, &got));
    assert_false(st_cursor_read("", &got));
    assert_false(st_cursor_read("0000000000000000000000000000000", &got));
}

static void words_are_quoted_for_the_search(void **state)
{
    struct st_buf b = ST_BUF_INIT;

    (void)state;
    st_sets_words("  a\"b  OR NEAR(", &b);
    assert_string_equal(st_buf_cstr(&b), "\"a\"\"b\"* \"OR\"* \"NEAR(\"*");
    st_buf_free(&b);
}

static void a_cookie_is_found_by_its_whole_name(void **state)
{
    size_t len;

    (void)state;
    assert_memory_equal(st_cookie_find("x=1; sandtrace_session=abc; y=2", ST_SESSION_COOKIE, &len), "abc", 3);
    assert_int_equal(len, 3);
    assert_null(st_cookie_find("xsandtrace_session=abc", ST_SESSION_COOKIE, &len));
    assert_null(st_cookie_find("sandtrace_sessions=abc", ST_SESSION_COOKIE, &len));
    assert_null(st_cookie_find(NULL, ST_SESSION_COOKIE, &len));
    assert_null(st_cookie_find(";; ;", ST_SESSION_COOKIE, &len));
}

static void a_limit_lets_a_few_by_and_then_one_at_a_time(void **state)
{
    struct st_limit l = {.burst = 3, .each_ns = 2 * SECOND};
    unsigned wait = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(st_limit_allows(&l, SECOND, &wait));
        st_limit_count(&l, SECOND);
    }
    assert_false(st_limit_allows(&l, SECOND, &wait));
    assert_int_equal(wait, 2);
    assert_true(st_limit_allows(&l, 3 * SECOND, &wait));
    st_limit_count(&l, 3 * SECOND);
    assert_false(st_limit_allows(&l, 4 * SECOND, &wait));
    assert_true(st_limit_allows(&l, 100 * SECOND, &wait));
}

/* ---- the gate ---- */

struct fixture {
    char token[ST_SECRET_SIZE], code[ST_SECRET_SIZE];
    struct st_session sessions[ST_SESSIONS_MAX];
    struct st_login login;
    struct st_gate gate;
};

static void make_gate(struct fixture *f)
{
    st_secret_make(f->token);
    st_secret_make(f->code);
    memset(f->sessions, 0, sizeof(f->sessions));
    st_login_init(&f->login, f->token, f->code, "ann", f->sessions, 0);
    f->gate = (struct st_gate){.login = &f->login};
}

static unsigned check(struct fixture *f, struct st_http_request *r, unsigned route)
{
    struct st_http_answer a = {0};
    struct st_session *s;
    unsigned status;

    r->host = r->host ? r->host : "localhost:8466";
    status = st_gate_check(&f->gate, r, route, SECOND, &s, &a);
    assert_int_equal(status, a.status);
    st_http_answer_free(&a);
    return status;
}

static void the_link_works_once_and_not_for_long(void **state)
{
    struct fixture f;

    (void)state;
    make_gate(&f);
    assert_null(st_login_by_code(&f.login, NULL, 0));
    assert_null(st_login_by_code(&f.login, "", 0));
    assert_null(st_login_by_code(&f.login, f.code, ST_CODE_NS + 1));
    assert_non_null(st_login_by_code(&f.login, f.code, 0));
    assert_null(st_login_by_code(&f.login, f.code, 0));
    assert_null(st_login_by_code(&f.login, "", 0));
}

static void sessions_end_and_the_oldest_makes_room(void **state)
{
    struct fixture f;
    struct st_session *first;
    char header[128];

    (void)state;
    make_gate(&f);
    first = st_login_open(&f.login, "bob", 0);
    snprintf(header, sizeof(header), ST_SESSION_COOKIE "=%s", first->id);
    assert_ptr_equal(st_login_session(&f.login, header, SECOND), first);
    for (int i = 0; i < ST_SESSIONS_MAX - 1; i++)
        st_login_open(&f.login, NULL, 2 * SECOND);
    assert_ptr_equal(st_login_session(&f.login, header, SECOND), first);
    st_login_open(&f.login, NULL, 3 * SECOND);
    assert_null(st_login_session(&f.login, header, 3 * SECOND));
    snprintf(header, sizeof(header), ST_SESSION_COOKIE "=%s", f.login.sessions[5].id);
    assert_non_null(st_login_session(&f.login, header, 4 * SECOND));
    assert_null(st_login_session(&f.login, header, 5 * SECOND + ST_SESSION_IDLE_NS));
    assert_null(st_login_session(&f.login, ST_SESSION_COOKIE "=", 0));
}

static void a_session_outlives_the_server_that_made_it(void **state)
{
    struct st_login next;
    struct st_session *s;
    struct fixture f;
    char header[128];

    (void)state;
    make_gate(&f);
    s = st_login_open(&f.login, "bob", 0);
    snprintf(header, sizeof(header), ST_SESSION_COOKIE "=%s", s->id);
    st_login_init(&next, f.token, NULL, "ann", f.sessions, SECOND);
    assert_ptr_equal(st_login_session(&next, header, SECOND), s);
    assert_string_equal(s->user, "bob");
    st_login_close(s);
    assert_null(st_login_session(&f.login, header, SECOND));
}

static void a_place_is_not_the_session_that_had_it(void **state)
{
    struct st_session *s;
    struct fixture f;
    char id[ST_SECRET_SIZE];

    (void)state;
    make_gate(&f);
    s = st_login_open(&f.login, "bob", 0);
    memcpy(id, s->id, sizeof(id));
    assert_true(st_session_stands(s, id, ST_SESSION_IDLE_NS));
    assert_true(st_session_stands(s, id, ST_SESSION_IDLE_NS + SECOND)); /* it was used meanwhile */
    assert_false(st_session_stands(s, id, 3 * ST_SESSION_IDLE_NS));
    st_login_close(s);
    assert_false(st_session_stands(s, id, SECOND));
    assert_false(st_session_stands(s, "", SECOND));
    assert_ptr_equal(st_login_open(&f.login, "eve", SECOND), s);
    assert_false(st_session_stands(s, id, SECOND));
}

static void without_a_log_in_only_what_is_open_is_told(void **state)
{
    struct st_http_request r = {0};
    struct fixture f;
    char bearer[64];

    (void)state;
    make_gate(&f);
    assert_int_equal(check(&f, &r, 0), 401);
    assert_int_equal(check(&f, &r, ST_ROUTE_OPEN), 0);
    assert_int_equal(check(&f, &r, ST_ROUTE_METRICS), 401);
    f.gate.metrics_open = true;
    assert_int_equal(check(&f, &r, ST_ROUTE_METRICS), 0);
    snprintf(bearer, sizeof(bearer), "Bearer %s", f.token);
    r.authorization = bearer;
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 0);
    assert_string_equal(r.user, "ann");
    f.gate.read_only = true;
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 403);
    assert_int_equal(check(&f, &r, 0), 0);
    bearer[20] = (char)(bearer[20] == 'A' ? 'B' : 'A');
    assert_int_equal(check(&f, &r, 0), 401);
}

static void a_post_by_cookie_needs_origin_and_token(void **state)
{
    struct st_http_request r = {0};
    struct st_session *s;
    struct fixture f;
    char header[128];

    (void)state;
    make_gate(&f);
    s = st_login_open(&f.login, NULL, 0);
    snprintf(header, sizeof(header), ST_SESSION_COOKIE "=%s", s->id);
    r.cookie = header;
    assert_int_equal(check(&f, &r, 0), 0);
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 403);
    r.csrf = s->csrf;
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 403);
    r.origin = "http://localhost:8466";
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 0);
    r.origin = "http://localhost:8467";
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 403);
    r.origin = "null";
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 403);
    r.origin = NULL;
    r.fetch_site = "same-origin";
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 0);
    r.fetch_site = "same-site";
    assert_int_equal(check(&f, &r, ST_ROUTE_ACTS), 403);
    assert_int_equal(check(&f, &r, 0), 403);
}

static void only_names_of_this_machine_are_hosts(void **state)
{
    static const char *const good[] = {"localhost", "LOCALHOST:1", "127.0.0.1:8466", "[::1]", "[::1]:80"};
    static const char *const bad[] = {"",
                                      "localhost.evil.example",
                                      "127.0.0.1.evil.example",
                                      "localhost:",
                                      "localhost:x",
                                      "[::1",
                                      "localhost:123456",
                                      "10.0.0.1",
                                      "127.0.0.2"};

    (void)state;
    assert_false(st_gate_host_fits(NULL));
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(st_gate_host_fits(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(st_gate_host_fits(bad[i]));
}

static void names_of_people_are_plain_text(void **state)
{
    (void)state;
    assert_true(st_login_name_fits("ann"));
    assert_true(st_login_name_fits("Zoë Müller"));
    assert_false(st_login_name_fits(""));
    assert_false(st_login_name_fits(NULL));
    assert_false(st_login_name_fits("a\x1b[31m"));
    assert_false(st_login_name_fits("a\xff"));
    assert_false(st_login_name_fits("\xe2\x80\xae"
                                    "ann"));
    assert_false(
        st_login_name_fits("0123456789012345678901234567890123456789012345678901234567890123456789"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_taken_apart),
        cmocka_unit_test(a_query_that_is_no_text_is_refused),
        cmocka_unit_test(filters_are_read_and_wrong_ones_named),
        cmocka_unit_test(a_cursor_comes_back_as_it_went_and_no_other_is_taken),
        cmocka_unit_test(words_are_quoted_for_the_search),
        cmocka_unit_test(a_cookie_is_found_by_its_whole_name),
        cmocka_unit_test(a_limit_lets_a_few_by_and_then_one_at_a_time),
        cmocka_unit_test(the_link_works_once_and_not_for_long),
        cmocka_unit_test(sessions_end_and_the_oldest_makes_room),
        cmocka_unit_test(a_session_outlives_the_server_that_made_it),
        cmocka_unit_test(a_place_is_not_the_session_that_had_it),
        cmocka_unit_test(without_a_log_in_only_what_is_open_is_told),
        cmocka_unit_test(a_post_by_cookie_needs_origin_and_token),
        cmocka_unit_test(only_names_of_this_machine_are_hosts),
        cmocka_unit_test(names_of_people_are_plain_text),
    };

    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
