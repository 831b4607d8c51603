/* The JSON tree: spans, refusals, and the canonical writer. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"

#include "unit.h"

static struct st_json_doc *parse(const char *text)
{
    struct st_json_doc *doc = NULL;
    struct st_error err = {0};

    if (st_json_parse(text, strlen(text), ST_JSON_DEFAULT_LIMITS, &doc, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    return doc;
}

static void assert_refused(const char *text, size_t len, const char *why)
{
    struct st_json_doc *doc = NULL;
    struct st_error err = {0};

    assert_true(st_json_parse(text, len, ST_JSON_DEFAULT_LIMITS, &doc, &err) < 0);
    assert_null(doc);
    if (!strstr(err.msg, why))
        fail_msg("%s: said '%s', not '%s'", text, err.msg, why);
}

static void assert_span(const char *text, const struct st_json_node *node, const char *expected)
{
    size_t start, end;

    assert_non_null(node);
    st_json_span(node, &start, &end);
    assert_int_equal(end - start, strlen(expected));
    assert_memory_equal(text + start, expected, end - start);
}

static void every_value_knows_its_span(void **state)
{
    const char *text = " { \"a\" : 123456789012345678901234567890 , \"b\\\"\":\"x\\\\\" ,\"c\":[ 1.5e3,true ,"
                       "null, \"\\u0041\\\"\" ],\"d\":{ } , \"e\":false}\n";
    st_auto_json doc = parse(text);
    const struct st_json_node *root = st_json_root(doc), *c = st_json_get(root, "c");
    const struct st_json_node *item = st_json_first(c);

    (void)state;
    assert_span(text, root,
                "{ \"a\" : 123456789012345678901234567890 , \"b\\\"\":\"x\\\\\" ,"
                "\"c\":[ 1.5e3,true ,null, \"\\u0041\\\"\" ],\"d\":{ } , "
                "\"e\":false}");
    assert_span(text, st_json_get(root, "a"), "123456789012345678901234567890");
    assert_span(text, st_json_get(root, "b\""), "\"x\\\\\"");
    assert_span(text, item, "1.5e3");
    assert_span(text, item = st_json_next(item), "true");
    assert_span(text, item = st_json_next(item), "null");
    assert_span(text, item = st_json_next(item), "\"\\u0041\\\"\"");
    assert_string_equal(st_json_str(item, NULL), "A\"");
    assert_null(st_json_next(item));
    assert_span(text, st_json_get(root, "d"), "{ }");
    assert_span(text, st_json_get(root, "e"), "false");
    assert_int_equal(st_json_count(root), 5);
}

static void integers_are_exact_or_refused(void **state)
{
    st_auto_json doc = parse("[9223372036854775807,-9223372036854775808,9223372036854775808,1.0,1e2,0]");
    const struct st_json_node *item = st_json_first(st_json_root(doc));
    int64_t n = 0;

    (void)state;
    assert_true(st_json_int(item, &n) && n == INT64_MAX);
    assert_true(st_json_int(item = st_json_next(item), &n) && n == INT64_MIN);
    assert_false(st_json_int(item = st_json_next(item), &n));
    assert_false(st_json_int(item = st_json_next(item), &n));
    assert_false(st_json_int(item = st_json_next(item), &n));
    assert_true(st_json_int(item = st_json_next(item), &n) && n == 0);
}

static void hostile_documents_are_refused_with_a_place(void **state)
{
    char deep[200];

    (void)state;
    memset(deep, '[', sizeof(deep));
    assert_refused(deep, sizeof(deep), "nested too deeply");
    assert_refused("{\"a\":1,\n \"a\":2}", 15, "line 2, column 5: duplicate key");
    assert_refused("", 0, "");
    assert_refused("   ", 3, "");
    assert_refused("{\"a\":1", 6, "");
    assert_refused("{\"a\":1} x", 9, "trailing garbage");
    assert_refused("{\"a\":\"\xff\"}", 9, "invalid");
    assert_refused("{\"a\":1}\0", 8, "");
    assert_refused("/* c */ {}", 10, "");
}

static void a_string_with_nul_is_not_a_shorter_string(void **state)
{
    st_auto_json doc = parse("{\"a\":\"runc\\u0000x\"}");
    const struct st_json_node *a = st_json_get(st_json_root(doc), "a");
    size_t len = 0;

    (void)state;
    assert_null(st_json_str(a, NULL));
    assert_non_null(st_json_str(a, &len));
    assert_int_equal(len, 6);
}

static void strings_are_written_canonically(void **state)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } cases[] = {
        {"plain", 5, "\"plain\""},
        {"\"\\/", 3, "\"\\\"\\\\/\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", 3, "\"\\u0001\\u001f\x7f\""},
        {"\0", 1, "\"\\u0000\""},
        {"\xc3\xa9\xe2\x82\xac", 5, "\"\xc3\xa9\xe2\x82\xac\""},
        {"a\xff\xc3", 3, "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"", 0, "\"\""},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf out = ST_BUF_INIT;

        st_json_quote(&out, cases[i].in, cases[i].len);
        assert_string_equal(st_buf_cstr(&out), cases[i].out);
    }
}

static void nested_values_are_separated(void **state)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    (void)state;
    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_key(&w, "a");
    st_jw_array(&w);
    st_jw_int(&w, -7);
    st_jw_object(&w);
    st_jw_end(&w, '}');
    st_jw_null(&w);
    st_jw_end(&w, ']');
    st_jw_kbool(&w, "b", true);
    st_jw_kstr(&w, "c", NULL);
    st_jw_kint(&w, "d", INT64_MAX);
    st_jw_end(&w, '}');
    assert_string_equal(st_buf_cstr(&out), "{\"a\":[-7,{},null],\"b\":true,\"d\":9007199254740991}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_knows_its_span),
        cmocka_unit_test(integers_are_exact_or_refused),
        cmocka_unit_test(hostile_documents_are_refused_with_a_place),
        cmocka_unit_test(a_string_with_nul_is_not_a_shorter_string),
        cmocka_unit_test(strings_are_written_canonically),
        cmocka_unit_test(nested_values_are_separated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
