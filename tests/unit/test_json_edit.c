/* Edits of a JSON text: exactly the bytes that were meant, and no other. */
#include "base/cleanup.h"
#include "base/json_edit.h"

#include "unit.h"

#include <errno.h>

struct fixture {
    struct st_json_doc *doc;
    struct st_json_edit *edit;
};

static struct fixture start(const char *text)
{
    struct fixture f = {0};
    struct st_error err = {0};

    if (st_json_parse(text, strlen(text), ST_JSON_DEFAULT_LIMITS, &f.doc, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    f.edit = st_json_edit_new(f.doc, text, strlen(text));
    return f;
}

static void finish(struct fixture *f, const char *expected)
{
    st_auto_buf out = ST_BUF_INIT;
    st_auto_json again = NULL;
    struct st_error err = {0};

    assert_int_equal(st_json_edit_apply(f->edit, &out, &err), 0);
    assert_string_equal(st_buf_cstr(&out), expected);
    assert_int_equal(st_json_parse(out.data, out.len, ST_JSON_DEFAULT_LIMITS, &again, &err), 0);
    st_json_edit_freep(&f->edit);
    st_json_freep(&f->doc);
}

#define PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

static void an_element_is_appended_and_parents_are_made(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"{}", "{\"a\":{\"b\":[9]}}"},
        {" { } ", " {\"a\":{\"b\":[9]} } "},
        {"{\"x\": 1 }", "{\"x\": 1,\"a\":{\"b\":[9]} }"},
        {"{\"a\":null,\"x\":1}", "{\"a\":{\"b\":[9]},\"x\":1}"},
        {"{\"a\" : { } }", "{\"a\" : {\"b\":[9] } }"},
        {"{\"a\":{\"b\":null}}", "{\"a\":{\"b\":[9]}}"},
        {"{\"a\":{\"b\":[]}}", "{\"a\":{\"b\":[9]}}"},
        {"{\"a\":{\"b\":[ 1 , 2 ]}}", "{\"a\":{\"b\":[ 1 , 2,9 ]}}"},
        {"{\"a\":{\"b\":[{\"c\":[]}]\n},\"x\":123456789012345678901234567890}",
         "{\"a\":{\"b\":[{\"c\":[]},9]\n},\"x\":123456789012345678901234567890}"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct fixture f = start(cases[i].before);

        assert_int_equal(st_json_edit_append(f.edit, PATH("a", "b"), "9", NULL), 0);
        finish(&f, cases[i].after);
    }
}

static void changes_see_one_another(void **state)
{
    struct fixture f = start("{\"n\":null,\"s\":{\"k\":1}}");

    (void)state;
    assert_int_equal(st_json_edit_append(f.edit, PATH("h", "one"), "1", NULL), 0);
    assert_int_equal(st_json_edit_append(f.edit, PATH("h", "two"), "2", NULL), 0);
    assert_int_equal(st_json_edit_append(f.edit, PATH("h", "one"), "3", NULL), 0);
    assert_int_equal(st_json_edit_append(f.edit, PATH("n", "x"), "4", NULL), 0);
    assert_int_equal(st_json_edit_append(f.edit, PATH("n", "x"), "5", NULL), 0);
    assert_int_equal(st_json_edit_set(f.edit, PATH("s", "k"), "6", NULL), 0);
    assert_int_equal(st_json_edit_set(f.edit, PATH("s", "k"), "7", NULL), 0);
    assert_int_equal(st_json_edit_set(f.edit, PATH("s", "q\"\n"), "8", NULL), 0);
    assert_int_equal(st_json_edit_set(f.edit, PATH("s", "q\"\n"), "9", NULL), 0);
    finish(&f, "{\"n\":{\"x\":[4,5]},\"s\":{\"k\":7,\"q\\\"\\n\":9},\"h\":{\"one\":[1,3],\"two\":[2]}}");
}

/* Bit i of removed: is element i taken away? */
static void remove_elements(const char *text, unsigned removed, bool append, const char *expected)
{
    struct fixture f = start(text);
    const struct st_json_node *list = st_json_get(st_json_root(f.doc), "l");
    unsigned i = 0;

    st_json_each (item, list)
        if (removed >> i++ & 1)
            st_json_edit_remove(f.edit, item);
    if (append)
        assert_int_equal(st_json_edit_append(f.edit, PATH("l"), "9", NULL), 0);
    finish(&f, expected);
}

static void elements_go_with_their_commas(void **state)
{
    static const char text[] = "{\"l\":[ 1 , 2 , 3 ]}";
    static const struct {
        unsigned removed;
        const char *without, *with;
    } cases[] = {
        {0, "{\"l\":[ 1 , 2 , 3 ]}", "{\"l\":[ 1 , 2 , 3,9 ]}"},
        {1, "{\"l\":[ 2 , 3 ]}", "{\"l\":[ 2 , 3,9 ]}"},
        {2, "{\"l\":[ 1 , 3 ]}", "{\"l\":[ 1 , 3,9 ]}"},
        {4, "{\"l\":[ 1 , 2 ]}", "{\"l\":[ 1 , 2,9 ]}"},
        {3, "{\"l\":[ 3 ]}", "{\"l\":[ 3,9 ]}"},
        {5, "{\"l\":[ 2 ]}", "{\"l\":[ 2,9 ]}"},
        {6, "{\"l\":[ 1 ]}", "{\"l\":[ 1,9 ]}"},
        {7, "{\"l\":[  ]}", "{\"l\":[ 9 ]}"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        remove_elements(text, cases[i].removed, false, cases[i].without);
        remove_elements(text, cases[i].removed, true, cases[i].with);
    }
}

static void members_go_with_their_keys(void **state)
{
    struct fixture f = start("{ \"a\" : 1 , \"b\\u0041\" : {\"x\":[]} , \"c\" : 3 }");

    (void)state;
    st_json_edit_remove(f.edit, st_json_get(st_json_root(f.doc), "bA"));
    finish(&f, "{ \"a\" : 1 , \"c\" : 3 }");

    f = start("{ \"a\" : 1 , \"b\" : 2 }");
    st_json_edit_remove(f.edit, st_json_get(st_json_root(f.doc), "b"));
    assert_int_equal(st_json_edit_set(f.edit, PATH("b"), "\"new\"", NULL), 0);
    finish(&f, "{ \"a\" : 1,\"b\":\"new\" }");
}

static void setting_what_is_there_changes_nothing(void **state)
{
    struct fixture f = start("{\"a\": {\"b\":  true } }");

    (void)state;
    assert_int_equal(st_json_edit_set(f.edit, PATH("a", "b"), "true", NULL), 0);
    assert_false(st_json_edit_changed(f.edit));
    assert_int_equal(st_json_edit_set(f.edit, PATH("a", "b"), "false", NULL), 0);
    assert_true(st_json_edit_changed(f.edit));
    finish(&f, "{\"a\": {\"b\":  false } }");
}

static void a_wrong_type_on_the_way_is_an_error_with_its_place(void **state)
{
    struct fixture f = start("{\"a\":\n [1], \"s\":\"x\"}");
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_json_edit_append(f.edit, PATH("a", "b"), "1", &err), -EINVAL);
    assert_string_equal(err.msg, "line 2, column 2: `a` is not an object");
    assert_int_equal(st_json_edit_append(f.edit, PATH("s"), "1", &err), -EINVAL);
    assert_string_equal(err.msg, "line 2, column 11: `s` is not an array");
    assert_int_equal(st_json_edit_set(f.edit, PATH("n"), "1", &err), 0);
    assert_int_equal(st_json_edit_append(f.edit, PATH("n"), "1", &err), -EINVAL);
    finish(&f, "{\"a\":\n [1], \"s\":\"x\",\"n\":1}");

    f = start("[1]");
    assert_int_equal(st_json_edit_set(f.edit, PATH("a"), "1", &err), -EINVAL);
    finish(&f, "[1]");
}

static void overlapping_changes_are_refused(void **state)
{
    struct fixture f = start("{\"a\":{\"b\":[1]},\"c\":2}");
    const struct st_json_node *a = st_json_get(st_json_root(f.doc), "a");
    st_auto_buf out = ST_BUF_INIT;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_json_edit_append(f.edit, PATH("a", "b"), "2", NULL), 0);
    st_json_edit_remove(f.edit, a);
    assert_int_equal(st_json_edit_apply(f.edit, &out, &err), -EINVAL);
    st_json_edit_freep(&f.edit);
    st_json_freep(&f.doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_element_is_appended_and_parents_are_made),
        cmocka_unit_test(changes_see_one_another),
        cmocka_unit_test(elements_go_with_their_commas),
        cmocka_unit_test(members_go_with_their_keys),
        cmocka_unit_test(setting_what_is_there_changes_nothing),
        cmocka_unit_test(a_wrong_type_on_the_way_is_an_error_with_its_place),
        cmocka_unit_test(overlapping_changes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
