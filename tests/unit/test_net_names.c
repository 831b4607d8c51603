/* Which names an address has, for how long, and what is lost where there is no room. */
#include "sensors/net/names.h"

#include "unit.h"

#include <stdio.h>

static struct st_addr addr(const char *text)
{
    struct st_addr a;

    assert_true(st_addr_parse(st_str(text), &a));
    return a;
}

static struct st_addr nth_addr(uint32_t i)
{
    const uint8_t bytes[4] = {10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};

    return st_addr_from4(bytes);
}

static void learn(struct st_names *n, const char *of, const char *name, uint32_t ttl_s, int64_t now_ms)
{
    struct st_addr a = addr(of);

    assert_true(st_names_learn(n, &a, st_str(name), ttl_s, now_ms));
}

/* names: with a space between. */
static void assert_names(struct st_names *n, const char *of, int64_t now_ms, const char *names)
{
    struct st_str found[ST_NAMES_PER_ADDR];
    struct st_addr a = addr(of);
    size_t count = st_names_of(n, &a, now_ms, found, N_OF(found));
    char text[1024] = "";

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strlen(found[i].p), found[i].len);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", found[i].p);
    }
    assert_string_equal(text, names);
}

static void an_address_has_the_names_that_were_learned_newest_first(void **state)
{
    struct st_names *n = st_names_new(8);

    (void)state;
    assert_names(n, "192.0.2.1", 0, "");
    learn(n, "192.0.2.1", "a.test", 60, 0);
    learn(n, "192.0.2.1", "b.test", 60, 1);
    learn(n, "2001:db8::1", "six.test", 60, 2);
    assert_names(n, "192.0.2.1", 3, "b.test a.test");
    assert_names(n, "::ffff:192.0.2.1", 3, "b.test a.test");
    assert_names(n, "2001:db8::1", 3, "six.test");
    assert_names(n, "192.0.2.2", 3, "");
    learn(n, "192.0.2.1", "a.test", 60, 4);
    assert_names(n, "192.0.2.1", 5, "a.test b.test");
    st_names_free(n);
}

static void a_name_ends_when_its_time_is_over(void **state)
{
    struct st_names *n = st_names_new(8);

    (void)state;
    learn(n, "192.0.2.1", "short.test", 10, 0);
    learn(n, "192.0.2.1", "long.test", 100, 0);
    assert_names(n, "192.0.2.1", 9999, "long.test short.test");
    assert_names(n, "192.0.2.1", 10000, "long.test");
    assert_names(n, "192.0.2.1", 100000, "");
    assert_int_equal(st_names_addrs(n), 1);
    st_names_expire(n, 100000);
    assert_int_equal(st_names_addrs(n), 0);
    assert_int_equal(st_names_forgotten(n), 0);
    st_names_free(n);
}

static void what_was_promised_is_kept(void **state)
{
    static const struct {
        uint32_t first, again; /* seconds, said at 0 and at 5,000 */
        int64_t good_until;
    } cases[] = {
        {60, 60, 65000},
        {60, 10, 60000}, /* not shortened */
        {60, 0, 60000},
        {5, 60, 65000}, /* over, and learned anew */
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct st_names *n = st_names_new(8);

        learn(n, "192.0.2.1", "a.test", cases[i].first, 0);
        learn(n, "192.0.2.1", "a.test", cases[i].again, 5000);
        assert_names(n, "192.0.2.1", cases[i].good_until - 1, "a.test");
        assert_names(n, "192.0.2.1", cases[i].good_until, "");
        st_names_free(n);
    }
}

static void an_address_has_so_many_names_and_the_first_learned_goes(void **state)
{
    struct st_names *n = st_names_new(64);
    struct st_str found[ST_NAMES_PER_ADDR + 1];
    struct st_addr a = addr("192.0.2.1");
    char name[32];

    (void)state;
    for (int i = 0; i < ST_NAMES_PER_ADDR + 3; i++) {
        snprintf(name, sizeof(name), "n%d.test", i);
        learn(n, "192.0.2.1", name, i == 8 ? 1 : 60, i);
    }
    assert_int_equal(st_names_of(n, &a, 100, found, N_OF(found)), ST_NAMES_PER_ADDR);
    assert_string_equal(found[0].p, "n18.test");
    assert_string_equal(found[15].p, "n3.test");
    assert_int_equal(st_names_forgotten(n), 3);
    learn(n, "192.0.2.1", "late.test", 60, 5000); /* n8 is over, and goes for it */
    assert_int_equal(st_names_of(n, &a, 5000, found, N_OF(found)), ST_NAMES_PER_ADDR);
    assert_string_equal(found[15].p, "n3.test");
    assert_int_equal(st_names_forgotten(n), 3);
    assert_int_equal(st_names_of(n, &a, 5000, found, 2), 2);
    st_names_free(n);
}

static void the_address_that_nobody_asked_for_longest_goes(void **state)
{
    struct st_names *n = st_names_new(3);

    (void)state;
    learn(n, "192.0.2.1", "a.test", 60, 0);
    learn(n, "192.0.2.2", "b.test", 60, 0);
    learn(n, "192.0.2.3", "c.test", 60, 0);
    assert_names(n, "192.0.2.1", 1, "a.test");
    learn(n, "192.0.2.4", "d.test", 60, 1);
    assert_int_equal(st_names_forgotten(n), 1);
    assert_names(n, "192.0.2.1", 2, "a.test");
    assert_names(n, "192.0.2.2", 2, "");
    assert_names(n, "192.0.2.3", 2, "c.test");
    assert_names(n, "192.0.2.4", 2, "d.test");
    st_names_free(n);
}

static void what_is_over_goes_before_what_is_good(void **state)
{
    struct st_names *n = st_names_new(3);

    (void)state;
    learn(n, "192.0.2.1", "a.test", 3600, 0);
    learn(n, "192.0.2.2", "b.test", 10, 0);
    learn(n, "192.0.2.3", "c.test", 10, 0);
    learn(n, "192.0.2.4", "d.test", 10, 20000);
    assert_int_equal(st_names_forgotten(n), 0);
    assert_int_equal(st_names_addrs(n), 2);
    assert_names(n, "192.0.2.1", 20000, "a.test");
    st_names_free(n);
}

static void so_many_names_on_average_and_no_more(void **state)
{
    struct st_names *n = st_names_new(4); /* 16 names in all */
    char name[32];

    (void)state;
    for (int i = 0; i < 48; i++) {
        snprintf(name, sizeof(name), "n%d.test", i);
        learn(n, i < 16 ? "192.0.2.1" : i < 32 ? "192.0.2.2" : "192.0.2.3", name, 60, i);
    }
    assert_names(n, "192.0.2.1", 50, "");
    assert_names(n, "192.0.2.2", 50, "");
    assert_int_equal(st_names_addrs(n), 1);
    assert_int_equal(st_names_forgotten(n), 32);
    st_names_free(n);
}

static void what_is_no_name_is_not_learned(void **state)
{
    static char long_name[1004];
    struct st_names *n = st_names_new(3);
    struct st_addr a = addr("192.0.2.1");

    (void)state;
    memset(long_name, 'x', sizeof(long_name));
    assert_false(st_names_learn(n, &a, (struct st_str){0}, 60, 0));
    assert_false(st_names_learn(n, &a, ST_STR_LIT(""), 60, 0));
    assert_false(st_names_learn(n, &a, (struct st_str){long_name, sizeof(long_name)}, 60, 0));
    assert_true(st_names_learn(n, &a, (struct st_str){long_name, sizeof(long_name) - 1}, 60, 0));
    assert_int_equal(st_names_addrs(n), 1);
    st_names_free(n);
}

/* Against a book of the simplest kind: each address has one name, its own number. */
static void many_addresses_come_and_go(void **state)
{
    enum { MAX = 1000, ALL = 20000 };
    struct st_names *n = st_names_new(MAX);
    char name[32];

    (void)state;
    for (uint32_t i = 0; i < ALL; i++) {
        struct st_addr a = nth_addr(i);

        snprintf(name, sizeof(name), "n%u.test", i);
        assert_true(st_names_learn(n, &a, st_str(name), 600, i));
    }
    assert_int_equal(st_names_addrs(n), MAX);
    assert_int_equal(st_names_forgotten(n), ALL - MAX);
    for (uint32_t i = 0; i < ALL; i++) {
        struct st_addr a = nth_addr(i);
        struct st_str found;

        snprintf(name, sizeof(name), "n%u.test", i);
        assert_int_equal(st_names_of(n, &a, ALL, &found, 1), i >= ALL - MAX);
        if (i >= ALL - MAX)
            assert_string_equal(found.p, name);
    }
    st_names_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_the_names_that_were_learned_newest_first),
        cmocka_unit_test(a_name_ends_when_its_time_is_over),
        cmocka_unit_test(what_was_promised_is_kept),
        cmocka_unit_test(an_address_has_so_many_names_and_the_first_learned_goes),
        cmocka_unit_test(the_address_that_nobody_asked_for_longest_goes),
        cmocka_unit_test(what_is_over_goes_before_what_is_good),
        cmocka_unit_test(so_many_names_on_average_and_no_more),
        cmocka_unit_test(what_is_no_name_is_not_learned),
        cmocka_unit_test(many_addresses_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
