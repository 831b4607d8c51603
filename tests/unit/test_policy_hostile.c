/* Policies made to hurt: each is refused (or loaded) within a budget of memory and of libyaml's work. The
 * budget of memory is the address space that the process may have: beyond it, allocation ends the process. */
#include "base/mem.h"

#include "policy_unit.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB ((size_t)1 << 20)

/* Loads in a child that may grow by so much. */
static void assert_bounded(const char *what, const struct st_buf *text, size_t grow, const char *why)
{
    int fds[2], status = 0;
    char said[512] = "";
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct st_policy *policy = NULL;
        struct st_error err = {0};
#ifndef ST_SANITIZED
        struct rlimit space = {text->len + grow + 64 * MB, text->len + grow + 64 * MB};

        setrlimit(RLIMIT_DATA, &space);
#endif
        (void)grow;
        if (st_policy_parse("h.yaml", text->data, text->len, NULL, &policy, NULL, &err) == 0)
            snprintf(err.msg, sizeof(err.msg), "loaded");
        if (write(fds[1], err.msg, strnlen(err.msg, sizeof(said) - 1)) < 0)
            _exit(3);
        _exit(0);
    }
    close(fds[1]);
    while ((n = read(fds[0], said, sizeof(said) - 1)) < 0)
        ;
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: ended with status %#x", what, (unsigned)status);
    if (!strstr(said, why))
        fail_msg("%s: said '%s', not '%s'", what, said, why);
}

static void repeat(struct st_buf *b, const char *s, size_t times)
{
    size_t len = strlen(s);

    st_buf_reserve(b, len * times);
    for (size_t i = 0; i < times; i++)
        st_buf_add(b, s, len);
}

static void an_alias_bomb_has_nothing_to_go_off_with(void **state)
{
    st_auto_buf text = ST_BUF_INIT;

    (void)state;
    st_buf_adds(&text, HEAD "scope: &a [/x,/x,/x,/x,/x,/x,/x,/x,/x]\n");
    for (int c = 'b'; c < 'z'; c++)
        st_buf_addf(&text, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1, c - 1,
                    c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
    assert_bounded("alias bomb", &text, 4 * MB, "anchors and aliases are not supported");
}

static void ten_megabytes_in_one_value_are_refused(void **state)
{
    static const char *const heads[] = {HEAD "description: ", HEAD "description: \"",
                                        HEAD "description: |\n  ",
                                        HEAD "rules: [{ id: r, type: filesystem, paths: [/"};

    (void)state;
    for (size_t i = 0; i < N_OF(heads); i++) {
        st_auto_buf text = ST_BUF_INIT;

        st_buf_adds(&text, heads[i]);
        repeat(&text, "aaaaaaaaaaaaaaaa", 10 * MB / 16);
        st_buf_adds(&text, i == 1 ? "\"\n" : i == 3 ? "] }]\n" : "\n");
        assert_bounded("long value", &text, 100 * MB, "value too long");
    }
}

static void a_key_of_ten_megabytes_is_refused(void **state)
{
    st_auto_buf text = ST_BUF_INIT;

    (void)state;
    st_buf_adds(&text, "? ");
    repeat(&text, "k", 10 * MB);
    st_buf_adds(&text, "\n: v\n");
    assert_bounded("long key", &text, 100 * MB, "value too long");
}

static void more_bytes_than_a_policy_has_are_refused(void **state)
{
    st_auto_buf text = ST_BUF_INIT;

    (void)state;
    repeat(&text, "# a comment that goes on and on\n", 17 * MB / 32);
    assert_bounded("17 MB", &text, 4 * MB, "larger than the limit");
    st_buf_free(&text);
    st_buf_adds(&text, HEAD);
    repeat(&text, "# a comment that goes on and on\n", 15 * MB / 32);
    assert_bounded("15 MB of comments", &text, 4 * MB, "loaded");
}

static void deep_nesting_is_refused(void **state)
{
    static const char *const openers[] = {"[", "{a: ", "- ", "? ", "[{a: ", "- - - a: "};

    (void)state;
    for (size_t i = 0; i < N_OF(openers); i++) {
        st_auto_buf text = ST_BUF_INIT;

        repeat(&text, openers[i], 4 * MB / strlen(openers[i]));
        assert_bounded(openers[i], &text, 64 * MB, "");
    }
}

static void many_values_are_refused(void **state)
{
    st_auto_buf text = ST_BUF_INIT;

    (void)state;
    st_buf_adds(&text, "a: [");
    repeat(&text, "x,", 7 * MB);
    assert_bounded("many values", &text, 400 * MB, "too many values");
}

static void many_keys_are_refused(void **state)
{
    st_auto_buf text = ST_BUF_INIT;

    (void)state;
    for (int i = 0; i < 100000; i++)
        st_buf_addf(&text, "k%d: 1\n", i);
    assert_bounded("many keys", &text, 64 * MB, "too many keys");
}

static void many_errors_are_counted_not_kept(void **state)
{
    st_auto_buf text = ST_BUF_INIT, out = ST_BUF_INIT;
    struct st_policy *policy = NULL;
    st_auto_diag diags = {0};
    struct st_error err = {0};

    (void)state;
    st_buf_adds(&text, HEAD "rules:\n");
    for (int i = 0; i < 20000; i++)
        st_buf_addf(&text, "  - { id: r%d, type: filesystem, paths: [relative], oops: 1 }\n", i);
    assert_true(st_policy_parse("h.yaml", text.data, text.len, NULL, &policy, &diags, &err) < 0);
    assert_int_equal(diags.n, ST_DIAG_MAX);
    assert_int_equal(diags.errors, 40000);
    st_diag_text(&diags, false, &out);
    assert_non_null(strstr(out.data, "and 39936 more"));
    st_buf_clear(&text);
    st_buf_adds(&text, HEAD "rules:\n");
    for (int i = 0; i < 50000; i++)
        st_buf_adds(&text, "  - { id: same, type: syscall, names: [bpf] }\n");
    assert_bounded("one id many times", &text, 200 * MB, "is taken by the rule");
}

/* Each error has its remedy looked for among hundreds of names; a million of them must not. */
static void many_unknown_names_are_refused(void **state)
{
    static const char *const heads[] = {"type: syscall, names: [", "type: filesystem, paths: [/x], access: [",
                                        "type: dns_query, names: [*a, "};

    (void)state;
    for (size_t i = 0; i < N_OF(heads); i++) {
        st_auto_buf text = ST_BUF_INIT;

        st_buf_addf(&text, HEAD "rules: [{ id: r, %s", heads[i]);
        repeat(&text, "wrizev*,", MB - 16);
        st_buf_adds(&text, "x] }]\n");
        assert_bounded(heads[i], &text, 400 * MB, "");
    }
}

static void bytes_that_are_no_text_are_refused(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *why;
    } rows[] = {
        {"schema_version: \"2.0\"\nname: a\0b\n", 32, "control characters are not allowed"},
        {"schema_version: \"2.0\"\nname: \"a\\0b\"\n", 35, "NUL"},
        {"schema_version: \"2.0\"\nname: \xff\xfe\n", 32, "UTF-8"},
        {"\xff\xfe\x61\x00", 4, ""},
        {"\x00\x00\x00", 3, ""},
        {"schema_version: \"2.0\"\nname: \x1b[31m\n", 34, "control characters"},
        {"\xed\xa0\x80: 1\n", 7, "invalid Unicode"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct st_policy *policy = NULL;
        struct st_error err = {0};

        assert_true(st_policy_parse("h.yaml", rows[i].text, rows[i].len, NULL, &policy, NULL, &err) < 0);
        if (!strstr(err.msg, rows[i].why))
            fail_msg("row %zu: said '%s', not '%s'", i, err.msg, rows[i].why);
    }
}

static void many_rules_about_fields_are_refused(void **state)
{
    st_auto_buf text = ST_BUF_INIT;

    (void)state;
    st_buf_adds(&text, HEAD "rules:\n");
    for (int i = 0; i < 2000; i++)
        st_buf_addf(&text,
                    "  - { id: r%d, type: threshold, threshold: { metric: count, window: 7d, limit: 1 } }\n",
                    i);
    assert_bounded("many thresholds", &text, 200 * MB, "more than 1024 rules of type");
}

static void a_hundred_thousand_rules_are_a_policy(void **state)
{
    st_auto_buf text = ST_BUF_INIT;

    (void)state;
    st_buf_adds(&text, HEAD "rules:\n");
    for (int i = 0; i < 100000; i++)
        st_buf_addf(&text, "  - { id: r%d, type: filesystem, paths: [\"/data/%d/**/x*\"] }\n", i, i);
    assert_bounded("many rules", &text, 600 * MB, "loaded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alias_bomb_has_nothing_to_go_off_with),
        cmocka_unit_test(ten_megabytes_in_one_value_are_refused),
        cmocka_unit_test(a_key_of_ten_megabytes_is_refused),
        cmocka_unit_test(more_bytes_than_a_policy_has_are_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(many_values_are_refused),
        cmocka_unit_test(many_keys_are_refused),
        cmocka_unit_test(many_errors_are_counted_not_kept),
        cmocka_unit_test(many_unknown_names_are_refused),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(many_rules_about_fields_are_refused),
        cmocka_unit_test(a_hundred_thousand_rules_are_a_policy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
