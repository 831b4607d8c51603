/* Canonical JSON: what the scanner takes, what it refuses, and that it never says yes where a real parser
 * says no. */
#include "audit/canonical.h"
#include "audit/scan.h"
#include "base/json_write.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static bool takes(const char *text, enum st_scan_rules rules)
{
    return st_scan_canonical(text, strlen(text), rules);
}

static void canonical_text_is_taken(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "\"\"",
        "0",
        "-1",
        "null",
        "true",
        "false",
        "9007199254740991",
        "-9007199254740991",
        "{\"\":1,\"a\":[1,2,{\"b\":null}],\"b\":\"x\"}",
        "\"\\u0000\\u001f\\b\\t\\n\\f\\r\\\"\\\\\"",
        "\"/\"",
        "\"\x7f\"",
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x82\"",
        "\"a text of more than sixteen bytes, and of more than thirty-two as well\"",
        /* UTF-16 order: the surrogates of U+1F602 come before U+FB33 */
        "{\"\xf0\x9f\x98\x82\":1,\"\xef\xac\xb3\":2}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(texts); i++)
        if (!takes(texts[i], ST_SCAN_RFC8785))
            fail_msg("refused: %s", texts[i]);
}

static void anything_else_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "{ }",
        "{} ",
        " {}",
        "[1, 2]",
        "{\"a\": 1}",
        "{\"b\":1,\"a\":2}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,}",
        "[1,]",
        "[,1]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{1:1}",
        "[",
        "{",
        "]",
        "[}",
        "\"",
        "\"a",
        "\"\\\"",
        "nul",
        "nulll",
        "True",
        "01",
        "-0",
        "-",
        "+1",
        "1.0",
        "1e5",
        "1E5",
        ".5",
        "9007199254740992",
        "99999999999999999999",
        "-9007199254740992",
        "\"\\/\"",
        "\"\\u0041\"",
        "\"\\u000a\"",
        "\"\\u001F\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude02\"",
        "\"\n\"",
        "\"\t\"",
        "\"\x01\"",
        "\"\\x\"",
        "\"\\u00\"",
        "\"\xff\"",
        "\"\xc3\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xe2\x82\"",
        "{}{}",
        "1 2",
        /* by code point, not by UTF-16 unit */
        "{\"\xef\xac\xb3\":1,\"\xf0\x9f\x98\x82\":2}",
        /* \n sorts by what it means, 0x0a, not by its backslash */
        "{\"a\":1,\"\\n\":2}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(texts); i++)
        if (takes(texts[i], ST_SCAN_RFC8785))
            fail_msg("taken: %s", texts[i]);
    assert_false(st_scan_canonical("\"a\0b\"", 5, ST_SCAN_RFC8785));
}

static void the_older_rules_differ_in_order_and_numbers(void **state)
{
    (void)state;
    assert_true(takes("{\"\xef\xac\xb3\":1,\"\xf0\x9f\x98\x82\":2}", ST_SCAN_BYTEWISE));
    assert_false(takes("{\"\xf0\x9f\x98\x82\":1,\"\xef\xac\xb3\":2}", ST_SCAN_BYTEWISE));
    assert_true(takes("[1.5,-0,1e+30,18446744073709551615]", ST_SCAN_BYTEWISE));
    assert_false(takes("[1.]", ST_SCAN_BYTEWISE));
    assert_false(takes("[1e]", ST_SCAN_BYTEWISE));
    assert_true(takes("{\"\\n\":1,\"!\":2,\"\\\\\":3,\"a\":4}", ST_SCAN_BYTEWISE));
}

static void depth_is_bounded(void **state)
{
    char text[2 * ST_SCAN_DEPTH + 4];

    (void)state;
    memset(text, '[', ST_SCAN_DEPTH);
    memset(text + ST_SCAN_DEPTH, ']', ST_SCAN_DEPTH);
    assert_true(st_scan_canonical(text, (size_t)2 * ST_SCAN_DEPTH, ST_SCAN_RFC8785));
    memset(text, '[', ST_SCAN_DEPTH + 1);
    memset(text + ST_SCAN_DEPTH + 1, ']', ST_SCAN_DEPTH + 1);
    assert_false(st_scan_canonical(text, (size_t)2 * ST_SCAN_DEPTH + 2, ST_SCAN_RFC8785));
}

/* The examples of RFC 8785, but for its numbers that are no integers. */
static void the_examples_of_rfc_8785_come_out_right(void **state)
{
    static const char *const pairs[][2] = {
        {"{\n  \"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\n  \"literals\": "
         "[null, true, "
         "false]\n}",
         "{\"literals\":[null,true,false],\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"},
        {"{\n  \"\\u20ac\": \"Euro Sign\",\n  \"\\r\": \"Carriage Return\",\n  \"\\ufb33\": \"Hebrew Letter "
         "Dalet With "
         "Dagesh\",\n  \"1\": \"One\",\n  \"\\ud83d\\ude00\": \"Emoji: Grinning Face\",\n  \"\\u0080\": "
         "\"Control\",\n  "
         "\"\\u00f6\": \"Latin Small Letter O With Diaeresis\"\n}",
         "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\",\"\xc3\xb6\":\"Latin Small "
         "Letter O With "
         "Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\",\"\xf0\x9f\x98\x80\":\"Emoji: Grinning "
         "Face\",\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}"},
        {"[\n  56,\n  {\n    \"d\": true,\n    \"10\": null,\n    \"1\": [ ]\n  }\n]",
         "[56,{\"1\":[],\"10\":null,\"d\":true}]"},
        {"{\n  \"peach\": \"This sorting order\",\n  \"p\xc3\xa9"
         "ch\xc3\xa9\": \"is wrong according to French\",\n  \"p\xc3\xaa"
         "che\": \"but canonicalization MUST\",\n  \"sin\": \"ignore locale\"\n}",
         "{\"peach\":\"This sorting order\",\"p\xc3\xa9"
         "ch\xc3\xa9\":\"is wrong according to French\",\"p\xc3\xaa"
         "che\":\"but canonicalization MUST\",\"sin\":\"ignore locale\"}"},
        {"{\n  \"1\": {\"f\": {\"f\": \"hi\",\"F\": 5} ,\"\\n\": 56},\n  \"10\": { },\n  \"\": \"empty\",\n  "
         "\"a\": { },\n  "
         "\"111\": [ {\"e\": \"yes\",\"E\": \"no\" } ],\n  \"A\": { }\n}",
         "{\"\":\"empty\",\"1\":{\"\\n\":56,\"f\":{\"F\":5,\"f\":\"hi\"}},\"10\":{},\"111\":[{\"E\":\"no\","
         "\"e\":\"yes\"}],\"A\":{},"
         "\"a\":{}}"},
        {"{\n  \"Unnormalized Unicode\":\"A\\u030a\"\n}", "{\"Unnormalized Unicode\":\"A\xcc\x8a\"}"},
        {"[0, -9007199254740991, 9007199254740991]", "[0,-9007199254740991,9007199254740991]"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(pairs); i++) {
        st_auto_json doc = NULL;
        st_auto_buf out = ST_BUF_INIT;
        struct st_error err;

        assert_int_equal(st_json_parse(pairs[i][0], strlen(pairs[i][0]), ST_JSON_DEFAULT_LIMITS, &doc, &err),
                         0);
        assert_true(st_canonical(st_json_root(doc), ST_SCAN_RFC8785, &out));
        assert_string_equal(out.data, pairs[i][1]);
        assert_true(takes(out.data, ST_SCAN_RFC8785));
        assert_int_equal(takes(pairs[i][0], ST_SCAN_RFC8785), strcmp(pairs[i][0], pairs[i][1]) == 0);
    }
}

/* Random text near to JSON: what the scanner takes must parse, and be its own canonical form; what parses and
 * is its own canonical form must be taken. */
static void the_scanner_agrees_with_the_parser(void **state)
{
    static const char *const bits[] = {
        "{",    "}",     "[",       "]",       ",",      ":",    "\"a\"",       "\"b\"",
        "\"\"", "1",     "0",       "-1",      "null",   "true", "\"\\n\"",     "\"\xc3\xa9\"",
        " ",    "\"c\"", "{\"a\":", ",\"b\":", "\"d\":", "12.5", "\"\\u0041\"", "\"\xff\""};
    unsigned seed = 20260326, taken = 0;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        char text[128] = "";
        size_t len = 0;
        int n = 1 + rand_r(&seed) % 8;
        st_auto_json doc = NULL;
        st_auto_buf out = ST_BUF_INIT;
        struct st_error err;
        bool expected;

        for (int i = 0; i < n; i++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
                                    bits[(size_t)rand_r(&seed) % N_OF(bits)]);
        expected = strchr("{[\"", text[0]) &&
                   st_json_parse(text, len, ST_JSON_DEFAULT_LIMITS, &doc, &err) == 0 &&
                   st_canonical(st_json_root(doc), ST_SCAN_RFC8785, &out) && out.len == len &&
                   memcmp(out.data, text, len) == 0;
        if (!strchr("{[\"", text[0]))
            continue; /* the parser wants more after a bare number */
        if (st_scan_canonical(text, len, ST_SCAN_RFC8785) != expected)
            fail_msg("%s: %s", expected ? "refused" : "taken", text);
        taken += expected;
    }
    assert_true(taken > 1000);
}

static void members_are_walked(void **state)
{
    static const char text[] = "{\"a\":[1,\"x\\n\\u0001y\",{}],\"b\":-5,\"c\":\"plain\"}";
    struct st_scanner s = {.p = text, .end = text + sizeof(text) - 1, .rules = ST_SCAN_RFC8785};
    struct st_scan_value root, item;
    struct st_scan_members m;
    char out[16];
    int64_t n;

    (void)state;
    st_scan_value(&s, &root);
    assert_int_equal(root.type, ST_SCAN_OBJECT);
    assert_true(st_scan_int(st_scan_get(root, "b", ST_SCAN_RFC8785), &n));
    assert_int_equal(n, -5);
    assert_true(st_scan_is(st_scan_get(root, "c", ST_SCAN_RFC8785), "plain"));
    assert_int_equal(st_scan_get(root, "d", ST_SCAN_RFC8785).type, ST_SCAN_BAD);
    st_scan_members(&m, st_scan_get(root, "a", ST_SCAN_RFC8785), ST_SCAN_RFC8785);
    assert_true(st_scan_next(&m));
    assert_int_equal(m.value.type, ST_SCAN_NUMBER);
    assert_true(st_scan_next(&m));
    item = m.value;
    assert_false(item.plain);
    assert_int_equal(st_scan_unescape(item, out), 4);
    assert_memory_equal(out, "x\n\1y", 4);
    assert_true(st_scan_next(&m));
    assert_int_equal(m.value.type, ST_SCAN_OBJECT);
    assert_false(st_scan_next(&m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_text_is_taken),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(the_older_rules_differ_in_order_and_numbers),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(the_examples_of_rfc_8785_come_out_right),
        cmocka_unit_test(the_scanner_agrees_with_the_parser),
        cmocka_unit_test(members_are_walked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
