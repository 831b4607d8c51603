/* Which answer was asked for. */
#include "sensors/net/dns_asked.h"

#include "unit.h"

#include <netinet/in.h>

#define A 1
#define AAAA 28
#define SECOND 1000

static struct st_flow_tuple to_server(uint8_t protocol, uint16_t src_port, const char *server)
{
    struct st_flow_tuple t = {.protocol = protocol, .src_port = src_port, .dst_port = 53};

    assert_true(st_addr_parse(ST_STR_LIT("10.0.0.2"), &t.src));
    assert_true(st_addr_parse(st_str(server), &t.dst));
    return t;
}

static struct st_dns_ask ask(uint16_t port, uint16_t id, const char *name)
{
    return (struct st_dns_ask){
        .flow = to_server(IPPROTO_UDP, port, "10.0.0.1"),
        .id = id,
        .qtype = A,
        .name = st_str(name),
        .teaches = true,
    };
}

/* An answer to exactly this. */
static bool take(struct st_dns_asked *asked, const struct st_dns_ask *a, int64_t now_ms)
{
    struct st_flow_tuple answer = st_flow_tuple_reversed(&a->flow);
    struct st_dns_taken out;

    return st_dns_asked_take(asked, &answer, a->id, a->name, a->qtype, now_ms, &out);
}

static void an_answer_is_taken_once_for_each_time_it_was_asked_for(void **state)
{
    struct st_dns_asked *asked = st_dns_asked_new(8);
    struct st_dns_ask a = ask(1000, 7, "a.test");

    (void)state;
    assert_false(take(asked, &a, 0));
    st_dns_asked_put(asked, &a, 0);
    st_dns_asked_put(asked, &a, 1);
    assert_true(take(asked, &a, 2));
    assert_true(take(asked, &a, 2));
    assert_false(take(asked, &a, 2));
    assert_int_equal(st_dns_asked_count(asked), 0);
    st_dns_asked_free(asked);
}

static void an_answer_that_differs_in_anything_does_not_fit(void **state)
{
    const struct st_dns_ask asked_for = ask(1000, 7, "a.test");
    struct st_dns_ask others[7];
    struct st_dns_asked *asked = st_dns_asked_new(8);
    struct st_flow_tuple not_turned = asked_for.flow;
    struct st_dns_taken out;

    (void)state;
    for (size_t i = 0; i < N_OF(others); i++)
        others[i] = asked_for;
    others[0].id = 8;
    others[1].qtype = AAAA;
    others[2].name = ST_STR_LIT("b.test");
    others[3].name = ST_STR_LIT("a.tes");
    others[4].flow = to_server(IPPROTO_UDP, 1001, "10.0.0.1");
    others[5].flow = to_server(IPPROTO_UDP, 1000, "10.0.0.3");
    others[6].flow = to_server(IPPROTO_TCP, 1000, "10.0.0.1");
    st_dns_asked_put(asked, &asked_for, 0);
    for (size_t i = 0; i < N_OF(others); i++)
        assert_false(take(asked, &others[i], 1));
    assert_false(st_dns_asked_take(asked, &not_turned, 7, ST_STR_LIT("a.test"), A, 1, &out));
    assert_true(take(asked, &asked_for, 1));
    st_dns_asked_free(asked);
}

static void an_answer_says_what_its_query_may(void **state)
{
    struct st_dns_asked *asked = st_dns_asked_new(8);

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct st_dns_ask a = ask(1000, 7, "a.test");
        struct st_flow_tuple answer = st_flow_tuple_reversed(&a.flow);
        struct st_dns_taken out;

        a.teaches = i & 1;
        a.forwarded = i & 2;
        st_dns_asked_put(asked, &a, i);
        assert_true(st_dns_asked_take(asked, &answer, 7, a.name, A, 10, &out));
        assert_int_equal(out.teaches, a.teaches);
        assert_int_equal(out.forwarded, a.forwarded);
        assert_int_equal(out.asked_ms, i);
    }
    st_dns_asked_free(asked);
}

static void an_answer_that_comes_too_late_does_not_fit(void **state)
{
    static const struct {
        int64_t after_ms;
        bool fits;
    } cases[] = {{0, true}, {29 * SECOND, true}, {30 * SECOND, true}, {30 * SECOND + 1, false}};

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct st_dns_asked *asked = st_dns_asked_new(8);
        struct st_dns_ask a = ask(1000, 7, "a.test");

        st_dns_asked_put(asked, &a, 500);
        assert_int_equal(st_dns_asked_same_question(asked, a.name, A, 500 + cases[i].after_ms),
                         cases[i].fits);
        assert_int_equal(take(asked, &a, 500 + cases[i].after_ms), cases[i].fits);
        st_dns_asked_expire(asked, 500 + cases[i].after_ms);
        assert_int_equal(st_dns_asked_count(asked), 0);
        assert_int_equal(st_dns_asked_forgotten(asked), 0);
        st_dns_asked_free(asked);
    }
}

static void a_question_is_the_same_on_any_flow(void **state)
{
    struct st_dns_asked *asked = st_dns_asked_new(8);
    struct st_dns_ask client = ask(1000, 7, "a.test"), forwarded = ask(2000, 8, "a.test");

    (void)state;
    forwarded.forwarded = true;
    st_dns_asked_put(asked, &client, 0);
    assert_true(st_dns_asked_same_question(asked, ST_STR_LIT("a.test"), A, 1));
    assert_false(st_dns_asked_same_question(asked, ST_STR_LIT("a.test"), AAAA, 1));
    assert_false(st_dns_asked_same_question(asked, ST_STR_LIT("b.test"), A, 1));
    st_dns_asked_put(asked, &forwarded, 1);
    assert_true(take(asked, &client, 2));
    /* What was passed on does not justify itself. */
    assert_false(st_dns_asked_same_question(asked, ST_STR_LIT("a.test"), A, 2));
    assert_true(take(asked, &forwarded, 2));
    st_dns_asked_free(asked);
}

static void where_there_is_no_room_the_oldest_goes_and_is_counted(void **state)
{
    struct st_dns_asked *asked = st_dns_asked_new(3);

    (void)state;
    for (uint16_t id = 0; id < 10; id++) {
        struct st_dns_ask a = ask(1000, id, "a.test");

        st_dns_asked_put(asked, &a, id);
    }
    assert_int_equal(st_dns_asked_count(asked), 3);
    assert_int_equal(st_dns_asked_forgotten(asked), 7);
    for (uint16_t id = 0; id < 10; id++) {
        struct st_dns_ask a = ask(1000, id, "a.test");

        assert_int_equal(take(asked, &a, 11), id >= 7);
    }
    st_dns_asked_free(asked);
}

static void what_is_over_makes_room_uncounted(void **state)
{
    struct st_dns_asked *asked = st_dns_asked_new(3);

    (void)state;
    for (uint16_t id = 0; id < 10; id++) {
        struct st_dns_ask a = ask(1000, id, "a.test");

        st_dns_asked_put(asked, &a, id * 31 * SECOND);
    }
    assert_int_equal(st_dns_asked_count(asked), 1);
    assert_int_equal(st_dns_asked_forgotten(asked), 0);
    st_dns_asked_free(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_taken_once_for_each_time_it_was_asked_for),
        cmocka_unit_test(an_answer_that_differs_in_anything_does_not_fit),
        cmocka_unit_test(an_answer_says_what_its_query_may),
        cmocka_unit_test(an_answer_that_comes_too_late_does_not_fit),
        cmocka_unit_test(a_question_is_the_same_on_any_flow),
        cmocka_unit_test(where_there_is_no_room_the_oldest_goes_and_is_counted),
        cmocka_unit_test(what_is_over_makes_room_uncounted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
