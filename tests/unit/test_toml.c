/* TOML: what a text names and where, and that nothing that is not TOML passes, or does harm. */
#include "base/cleanup.h"
#include "base/toml.h"

#include "unit.h"

#include <stdio.h>

static struct st_toml *parse(const char *text)
{
    struct st_toml *t = NULL;
    struct st_error err = {0};

    if (st_toml_parse(text, strlen(text), &t, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    return t;
}

#define PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

static void every_way_to_write_a_name_leads_to_the_same_place(void **state)
{
    static const char *const texts[] = {
        "[a.b]\nc = 1\n",     "a.b.c = 1",        "[a]\nb.c = 1",           "a = { b = { c = 1 } }",
        "[ a . \"b\" ]\nc=1", "[a]\n'b'.\"c\"=1", "[a.\"\\u0062\"]\nc = 1", "a.b = {c = 1}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(texts); i++) {
        st_auto_toml t = parse(texts[i]);
        const struct st_toml_item *item = st_toml_find(t, PATH("a", "b", "c"));

        if (!item)
            fail_msg("%s", texts[i]);
        assert_int_equal(item->kind, ST_TOML_VALUE);
        assert_int_equal(item->value_end - item->value_start, 1);
        assert_int_equal(texts[i][item->value_start], '1');
        assert_non_null(st_toml_find_below(t, PATH("a")));
        assert_null(st_toml_find(t, PATH("a", "c")));
    }
}

static void values_of_all_kinds_are_passed_over(void **state)
{
    static const char text[] = "# a comment\n"
                               "s = \"a \\\" # no comment ] } \\U0001F600\"\r\n"
                               "l = 'C:\\no\\escape'\n"
                               "m = \"\"\"one\n[no.table]\n\\\n   two\"\"\"\"\" # two quotes more\n"
                               "n = '''\n[nor.here]\n'''\n"
                               "i = [ 0x1f, +1_000, -0, inf, # comment ]\n   nan, ]\n"
                               "d = 1979-05-27 07:32:00.5-07:00\n"
                               "e = [ { x = 1, y.z = [] }, {}, [[]], ]\n"
                               "b = true\n"
                               "[[points]]\nx = 1\n[[points]]\nx = 2\n"
                               "[last]\nkey = 'v'\n";
    st_auto_toml t = parse(text);
    st_auto_free char *value = st_toml_string(text, st_toml_find(t, PATH("last", "key")));
    st_auto_free char *string = st_toml_string(text, st_toml_find(t, PATH("s")));

    (void)state;
    assert_string_equal(value, "v");
    assert_string_equal(string, "a \" # no comment ] } \xf0\x9f\x98\x80");
    assert_null(st_toml_string(text, st_toml_find(t, PATH("m"))));
    assert_null(st_toml_string(text, st_toml_find(t, PATH("b"))));
    assert_null(st_toml_find(t, PATH("no", "table")));
    assert_null(st_toml_find(t, PATH("nor", "here")));
    assert_null(st_toml_find(t, PATH("e", "x")));
    assert_true(st_toml_find(t, PATH("points", "x"))->repeated);
}

static void what_is_no_toml_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a", "line 1, column 2: a `=` is expected here"},
        {"\n a = ", "line 2, column 6: a value is expected here"},
        {"a = yes", "line 1, column 5: a value is expected here; text stands in quotes"},
        {"a = 1 b = 2", "line 1, column 7: there is more on this line than belongs there"},
        {"a = 1\na = 2", "line 2, column 1: this was there before"},
        {"[t]\n[u]\n[t]", "line 3, column 1: this was there before"},
        {"a = \"open", "line 1, column 10: the string has no end"},
        {"a = \"two\nlines\"", "line 1, column 9: the string has no end"},
        {"a = \"\\q\"", "line 1, column 7: there is no such escape"},
        {"a = \"\\ud800\"", "line 1, column 12: there is no such character"},
        {"a = '''open", "line 1, column 12: the string has no end"},
        {"a = [1, 2", "line 1, column 10: a comma or a `]` is expected here"},
        {"a = {b = 1,}", "line 1, column 12: a name is expected here"},
        {"a = {b = 1", "line 1, column 11: a comma or a `}` is expected here"},
        {"[a", "line 1, column 3: a `]` is expected here"},
        {"[]", "line 1, column 2: a name is expected here"},
        {"[[a]", "line 1, column 5: a `]` is expected here"},
        {"= 1", "line 1, column 1: a name is expected here"},
        {"\"\\u0000\" = 1", "line 1, column 9: a name with a NUL in it"},
        {"{\"json\": 1}", "line 1, column 1: a name is expected here"},
        {"a = 1 # \001", "line 1, column 9: a control character in a comment"},
        {"\xff = 1", "this is not UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct st_toml *t = NULL;
        struct st_error err = {0};

        if (st_toml_parse(cases[i].text, strlen(cases[i].text), &t, &err) == 0)
            fail_msg("%s: passed", cases[i].text);
        assert_string_equal(err.msg, cases[i].message);
        assert_null(t);
    }
}

static void repeat(char *out, size_t n, const char *what)
{
    size_t len = strlen(what);

    for (size_t i = 0; i < n; i++)
        memcpy(out + i * len, what, len);
    out[n * len] = '\0';
}

static void depth_is_limited(void **state)
{
    static const char *const what[] = {"[", "{a=", "a.", "[a.a.a.a."};
    static char text[512 * 1024];
    struct st_toml *t = NULL;

    (void)state;
    for (size_t i = 0; i < N_OF(what); i++) {
        struct st_error err = {0};

        memcpy(text, "a = ", 5);
        repeat(text + (i < 2 ? 4 : 0), 50000, what[i]);
        assert_true(st_toml_parse(text, strlen(text), &t, &err) < 0);
    }
}

/* Every beginning of a text, and the text with each of its bytes replaced: whatever comes of it, nothing
 * outside of it is looked at (the copy ends where the text does) and spans lie within. */
static void hostile_bytes_do_no_harm(void **state)
{
    static const char text[] = "a.b = \"\\u00e9\" # c\n[t.'x']\nk = [1, {i = '''q'''}, 1979-05-27]\n[[m]]\n";
    static const char bytes[] = "\0\n\"'[]{}=.,#\\\xff u";

    (void)state;
    for (size_t len = 0; len < sizeof(text); len++)
        for (size_t b = 0; b < sizeof(bytes); b++) {
            st_auto_free char *copy = malloc(len + 1);
            const struct st_toml_item *items;
            struct st_error err = {0};
            st_auto_toml t = NULL;
            size_t n;

            memcpy(copy, text, len);
            copy[len] = bytes[b];
            if (st_toml_parse(copy, len + 1, &t, &err) < 0)
                continue;
            n = st_toml_items(t, &items);
            for (size_t i = 0; i < n; i++) {
                assert_true(items[i].start <= items[i].end && items[i].end <= len + 1);
                free(st_toml_string(copy, &items[i]));
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_write_a_name_leads_to_the_same_place),
        cmocka_unit_test(values_of_all_kinds_are_passed_over),
        cmocka_unit_test(what_is_no_toml_is_refused_with_its_place),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(hostile_bytes_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
