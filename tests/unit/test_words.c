/* What people write: durations, and words that are nearly right. */
#include "base/duration.h"
#include "base/suggest.h"

#include "unit.h"

static void durations_are_read_to_the_millisecond(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"0", 0},          {"0s", 0},
        {"5s", 5000},      {"200ms", 200},
        {"15m", 900000},   {"1h30m", 5400000},
        {"2d", 172800000}, {"1m5s250ms", 65250},
        {"007s", 7000},    {"36525d", (int64_t)36525 * 86400000},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        int64_t ms = -1;

        if (!st_duration_parse(cases[i].text, &ms) || ms != cases[i].ms)
            fail_msg("%s: %lld", cases[i].text, (long long)ms);
    }
}

static void what_is_no_duration_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        " ",
        "5",
        "s",
        "-5s",
        "5 s",
        "5s ",
        "+5s",
        "1.5s",
        "5S",
        "5sm",
        "5m5m",
        "5s5m",
        "5min",
        "5mss",
        "36526d",
        "5msm",
        "0x5s",
        "5us",
        "00",
        "5s0",
        "1e3s",
        "\n5s",
        "36525d1ms",
        "99999999999999999999ms",
        "9223372036854775808s",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        int64_t ms = -1;

        if (st_duration_parse(cases[i], &ms))
            fail_msg("'%s' was read as %lld", cases[i], (long long)ms);
        assert_int_equal(ms, -1);
    }
}

static void a_formatted_duration_reads_back(void **state)
{
    static const int64_t cases[] = {0, 1, 999, 1000, 61001, 3600000, 90061001, (int64_t)36525 * 86400000};

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[ST_DURATION_SIZE];
        int64_t ms = -1;

        st_duration_format(cases[i], text);
        assert_true(st_duration_parse(text, &ms));
        assert_int_equal(ms, cases[i]);
    }
}

static void the_nearest_word_is_suggested_or_none(void **state)
{
    static const char *const words[] = {"runtime", "state_dir", "log_dir", "key_dir", "policy_dirs", "hook"};
    static const struct {
        const char *written, *expected;
    } cases[] = {
        {"runtme", "runtime"},
        {"rnutime", "runtime"},
        {"Runtime", "runtime"},
        {"statedir", "state_dir"},
        {"state-dir", "state_dir"},
        {"hok", "hook"},
        {"policy_dir", "policy_dirs"},
        {"xyzzy", NULL},
        {"", NULL},
        {"z", NULL},
    };
    char huge[200];

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const char *got = st_suggest(cases[i].written, words, N_OF(words));

        if (cases[i].expected ? !got || strcmp(got, cases[i].expected) != 0 : got != NULL)
            fail_msg("'%s': suggested %s", cases[i].written, got ? got : "nothing");
    }
    memset(huge, 'r', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    assert_null(st_suggest(huge, words, N_OF(words)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_read_to_the_millisecond),
        cmocka_unit_test(what_is_no_duration_is_refused),
        cmocka_unit_test(a_formatted_duration_reads_back),
        cmocka_unit_test(the_nearest_word_is_suggested_or_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
