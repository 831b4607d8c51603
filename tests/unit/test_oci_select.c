/* Which policy a container gets, what is refused, and who is a pod's sandbox. */
#include "oci/select.h"

#include "base/cleanup.h"

#include "unit.h"

#define MAY_PATHS 1u
#define MAY_ENV 2u
#define MAY_DISABLE 4u

static int choose(struct st_json_doc **doc, const char *json, unsigned may, struct st_selection *out,
                  struct st_error *err)
{
    const struct st_select_rules rules = {.default_policy = "agent-default",
                                          .policy_paths = may & MAY_PATHS,
                                          .policy_from_env = may & MAY_ENV,
                                          .allow_disable = may & MAY_DISABLE,
                                          .light_pods = true};
    struct st_select_input input = {.id = "c1"};

    if (st_json_parse(json, strlen(json), ST_JSON_DEFAULT_LIMITS, doc, err) < 0)
        fail_msg("%s: %s", json, err->msg);
    input.annotations = st_json_get(st_json_root(*doc), "a");
    input.env = st_json_get(st_json_root(*doc), "e");
    return st_oci_select(&rules, &input, out, err);
}

static void the_policy_comes_from_where_it_may(void **state)
{
    static const struct {
        const char *json, *policy;
        unsigned may;
        enum st_selected_by source;
    } cases[] = {
        {"{}", "agent-default", 0, ST_POLICY_BY_DEFAULT},
        {"{\"a\":{}}", "agent-default", 7, ST_POLICY_BY_DEFAULT},
        {"{\"a\":{\"io.sandtrace.policy\":\"p-1.x_Y\"}}", "p-1.x_Y", 0, ST_POLICY_BY_ANNOTATION},
        {"{\"a\":{\"io.sandtrace.policy\":\"/etc/p.yaml\"}}", "/etc/p.yaml", MAY_PATHS,
         ST_POLICY_BY_ANNOTATION},
        {"{\"e\":[\"SANDTRACE_POLICY=x\"]}", "agent-default", 0, ST_POLICY_BY_DEFAULT},
        {"{\"e\":[\"A=b\",\"SANDTRACE_POLICY=x\",7,null]}", "x", MAY_ENV, ST_POLICY_BY_ENVIRONMENT},
        {"{\"e\":[\"SANDTRACE_POLICY=../x\",\"SANDTRACE_POLICY=y\"]}", "agent-default", 0,
         ST_POLICY_BY_DEFAULT},
        {"{\"a\":{\"io.sandtrace.policy\":\"a\"},\"e\":[\"SANDTRACE_POLICY=b\"]}", "a", MAY_ENV,
         ST_POLICY_BY_ANNOTATION},
        {"{\"e\":[\"SANDTRACE_POLICYX=b\",\"XSANDTRACE_POLICY=b\",\"SANDTRACE_POLICY\"]}", "agent-default",
         MAY_ENV, ST_POLICY_BY_DEFAULT},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_json doc = NULL;
        struct st_selection s;
        struct st_error err = {0};

        if (choose(&doc, cases[i].json, cases[i].may, &s, &err) < 0)
            fail_msg("%s: %s", cases[i].json, err.msg);
        assert_string_equal(s.policy, cases[i].policy);
        assert_int_equal(s.source, cases[i].source);
        assert_false(s.disabled);
        assert_null(s.mode);
    }
}

static void a_request_that_is_wrong_or_not_allowed_is_an_error(void **state)
{
    static const struct {
        const char *json, *why;
        unsigned may;
    } cases[] = {
        {"{\"a\":[null,7]}", "annotations: not an object", 7},
        {"{\"a\":\"io.sandtrace.policy\"}", "annotations: not an object", 7},
        {"{\"a\":{\"io.sandtrace.policy\":\"/etc/p.yaml\"}}", "set policy_paths: true", 0},
        {"{\"a\":{\"io.sandtrace.policy\":\"/etc/../p.yaml\"}}", "without '..'", MAY_PATHS},
        {"{\"a\":{\"io.sandtrace.policy\":\"/\\n\"}}", "control characters", MAY_PATHS},
        {"{\"a\":{\"io.sandtrace.policy\":\"../p\"}}", "no policy's name", 7},
        {"{\"a\":{\"io.sandtrace.policy\":\"a/b\"}}", "no policy's name", 7},
        {"{\"a\":{\"io.sandtrace.policy\":\"\"}}", "no policy's name", 7},
        {"{\"a\":{\"io.sandtrace.policy\":\".hidden\"}}", "no policy's name", 7},
        {"{\"a\":{\"io.sandtrace.policy\":\"a..b\"}}", "no policy's name", 7},
        {"{\"a\":{\"io.sandtrace.policy\":\"a\\u0000b\"}}", "not plain text", 7},
        {"{\"a\":{\"io.sandtrace.policy\":7}}", "not plain text", 7},
        {"{\"a\":{\"io.sandtrace.policy\":"
         "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}}",
         "no policy's name", 7},
        {"{\"e\":[\"SANDTRACE_POLICY=a\",\"SANDTRACE_POLICY=a\"]}", "given twice", MAY_ENV},
        {"{\"e\":[\"SANDTRACE_POLICY=/p\"]}", "environment variable SANDTRACE_POLICY: `/p` is a path",
         MAY_ENV},
        {"{\"e\":[\"SANDTRACE_POLICY=a\\u0000\"]}", "not plain text", MAY_ENV},
        {"{\"a\":{\"io.sandtrace.disable\":\"true\"}}", "set allow_disable: true", 3},
        {"{\"a\":{\"io.sandtrace.disable\":\"yes\"}}", "write true or false", 7},
        {"{\"a\":{\"io.sandtrace.mode\":\"off\"}}", "write enforce or audit", 7},
        {"{\"a\":{\"io.sandtrace.depth\":\"deep\"}}", "write guard, record or strict", 7},
        {"{\"a\":{\"io.sandtrace.agent-id\":\"\"}}", "1 to 256 printable", 7},
        {"{\"a\":{\"io.sandtrace.trace-id\":\"a\\nb\"}}", "1 to 256 printable", 7},
        {"{\"a\":{\"io.sandtrace.trace-id\":\"\xc3\xa9\"}}", "1 to 256 printable", 7},
        {"{\"a\":{\"io.sandtrace.polcy\":\"x\"}}", "did you mean io.sandtrace.policy", 7},
        {"{\"a\":{\"io.sandtrace.frobnicate\":\"x\"}}", "unknown annotation `io.sandtrace.frobnicate`", 7},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_json doc = NULL;
        struct st_selection s;
        struct st_error err = {0};

        if (choose(&doc, cases[i].json, cases[i].may, &s, &err) >= 0 || !strstr(err.msg, cases[i].why))
            fail_msg("%s: said '%s', not '%s'", cases[i].json, err.msg, cases[i].why);
    }
}

static void other_requests_are_collected(void **state)
{
    st_auto_json doc = NULL;
    struct st_selection s;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(choose(&doc,
                            "{\"a\":{\"io.sandtrace.mode\":\"audit\",\"io.sandtrace.agent-id\":\"agent 7\","
                            "\"io.sandtrace.depth\":\"record\","
                            "\"io.sandtrace.trace-id\":\"t/1\",\"io.sandtrace.disable\":\"true\"}}",
                            MAY_DISABLE, &s, &err),
                     0);
    assert_string_equal(s.mode, "audit");
    assert_string_equal(s.depth, "record");
    assert_string_equal(s.agent_id, "agent 7");
    assert_string_equal(s.trace_id, "t/1");
    assert_true(s.disabled);
    st_json_freep(&doc);
    assert_int_equal(choose(&doc, "{\"a\":{\"io.sandtrace.disable\":\"false\"}}", 0, &s, &err), 0);
    assert_false(s.disabled);
}

static void only_a_pods_own_sandbox_is_light(void **state)
{
    static const struct {
        const char *json;
        bool light;
    } cases[] = {
        {"{\"a\":{\"io.kubernetes.cri.container-type\":\"sandbox\",\"io.kubernetes.cri.sandbox-id\":\"c1\"}}",
         true},
        {"{\"a\":{\"io.kubernetes.cri-o.ContainerType\":\"sandbox\",\"io.kubernetes.cri-o.SandboxID\":\"c1\"}"
         "}",
         true},
        {"{\"a\":{\"io.kubernetes.cri.container-type\":\"sandbox\",\"io.kubernetes.cri.sandbox-id\":\"c2\"}}",
         false},
        {"{\"a\":{\"io.kubernetes.cri.container-type\":\"container\",\"io.kubernetes.cri.sandbox-id\":\"c1\"}"
         "}",
         false},
        {"{\"a\":{\"io.kubernetes.cri.container-type\":\"sandbox\"}}", false},
        {"{\"a\":{\"io.kubernetes.cri.container-type\":\"sandbox\",\"io.kubernetes.cri-o.SandboxID\":\"c1\"}"
         "}",
         false},
        {"{\"a\":{\"io.kubernetes.cri.container-type\":\"sandbox\",\"io.kubernetes.cri.sandbox-id\":"
         "\"c1\\u0000\"}}",
         false},
        {"{}", false},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_json doc = NULL;
        struct st_selection s;
        struct st_error err = {0};

        assert_int_equal(choose(&doc, cases[i].json, 0, &s, &err), 0);
        if (s.light != cases[i].light)
            fail_msg("%s: %d", cases[i].json, s.light);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_policy_comes_from_where_it_may),
        cmocka_unit_test(a_request_that_is_wrong_or_not_allowed_is_an_error),
        cmocka_unit_test(other_requests_are_collected),
        cmocka_unit_test(only_a_pods_own_sandbox_is_light),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
