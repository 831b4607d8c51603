/* The state on a hook's stdin, and the facts of config.json for the trace. */
#include "oci/facts.h"
#include "oci/state.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include "unit.h"

#include <errno.h>

static void the_state_that_runtimes_write_is_read(void **state)
{
    static const char text[] =
        "{\"ociVersion\":\"1.0.2-dev\",\"id\":\"c_1+x,y-z.0\",\"status\":\"creating\",\"pid\":4194304,"
        "\"bundle\":\"/run/b\",\"annotations\":{\"k\":\"v\"},\"future\":[1]}";
    st_auto_oci_state s = {0};
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_oci_state_parse(text, strlen(text), &s, &err), 0);
    assert_string_equal(s.id, "c_1+x,y-z.0");
    assert_string_equal(s.bundle, "/run/b");
    assert_string_equal(s.status, "creating");
    assert_int_equal(s.pid, 4194304);
    assert_string_equal(st_json_str(st_json_get(s.annotations, "k"), NULL), "v");
}

static void a_stopped_container_has_no_pid(void **state)
{
    static const char *const texts[] = {
        "{\"id\":\"c\",\"bundle\":\"/b\",\"status\":\"stopped\"}",
        "{\"id\":\"c\",\"bundle\":\"/b\",\"status\":\"stopped\",\"pid\":0,\"annotations\":null}",
        "{\"id\":\"c\",\"bundle\":\"/b\",\"pid\":null}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(texts); i++) {
        st_auto_oci_state s = {0};
        struct st_error err = {0};

        assert_int_equal(st_oci_state_parse(texts[i], strlen(texts[i]), &s, &err), 0);
        assert_int_equal(s.pid, 0);
        assert_null(s.annotations);
    }
}

static void a_hostile_state_is_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "container state: line 1"},
        {"[]", "not a JSON object"},
        {"{\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":\"\",\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":\".\",\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":\"..\",\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":\"a/b\",\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":\"a b\",\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":\"a\\u0000b\",\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":\"\xc3\xa9\",\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":7,\"bundle\":\"/b\"}", "`id`"},
        {"{\"id\":\"c\"}", "`bundle`"},
        {"{\"id\":\"c\",\"bundle\":\"b\"}", "`bundle`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\\u0000\"}", "`bundle`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"pid\":1}", "`pid`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"pid\":-5}", "`pid`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"pid\":4194305}", "`pid`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"pid\":9223372036854775808}", "`pid`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"pid\":\"5\"}", "`pid`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"pid\":5.0}", "`pid`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"status\":\"odd\"}", "`status`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"status\":null}", "`status`"},
        {"{\"id\":\"c\",\"bundle\":\"/b\",\"annotations\":[]}", "`annotations`"},
        {"{\"id\":\"c\",\"id\":\"d\",\"bundle\":\"/b\"}", "duplicate key"},
    };
    char long_id[300];

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct st_oci_state s = {0};
        struct st_error err = {0};

        if (st_oci_state_parse(cases[i].text, strlen(cases[i].text), &s, &err) >= 0 ||
            !strstr(err.msg, cases[i].why))
            fail_msg("%s: said '%s', not '%s'", cases[i].text, err.msg, cases[i].why);
        assert_null(s.doc);
    }
    memset(long_id, 'a', sizeof(long_id));
    long_id[ST_OCI_ID_MAX] = '\0';
    assert_true(st_oci_id_ok(long_id));
    long_id[ST_OCI_ID_MAX] = 'a';
    long_id[ST_OCI_ID_MAX + 1] = '\0';
    assert_false(st_oci_id_ok(long_id));
}

static void facts_of(const char *text, struct st_buf *out)
{
    st_auto_oci_config config = NULL;
    st_auto_json again = NULL;
    struct st_error err = {0};

    if (st_oci_config_parse(text, strlen(text), &config, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    st_oci_facts(config, "/run/b", out);
    assert_int_equal(st_json_parse(out->data, out->len, ST_JSON_DEFAULT_LIMITS, &again, &err), 0);
}

static void the_facts_are_what_was_granted_and_no_secret(void **state)
{
    st_auto_buf out = ST_BUF_INIT;

    (void)state;
    facts_of(
        "{\"ociVersion\":\"1.0.2\",\"hostname\":\"h\",\"root\":{\"path\":\"rootfs\",\"readonly\":true},"
        "\"process\":{\"user\":{\"uid\":1000,\"gid\":100,\"additionalGids\":[4,24]},\"args\":[\"sh\",\"-c\","
        "\"true\"],\"env\":[\"PATH=/bin\",\"TOKEN=s3cret\",\"s3cret-alone\"],\"cwd\":\"/"
        "\",\"noNewPrivileges\":true,"
        "\"capabilities\":{\"bounding\":[\"CAP_KILL\"],\"effective\":[\"CAP_KILL\"]}},"
        "\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\",\"options\":[\"ro\"]}],"
        "\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":\"/n\"}],"
        "\"cgroupsPath\":\"/cg\",\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":"
        "[\"read\"],\"action\":\"SCMP_ACT_ALLOW\"}]}},"
        "\"annotations\":{\"io.sandtrace.policy\":\"p\",\"io.kubernetes.cri.image-name\":\"img:1\","
        "\"other\":\"x\",\"io.sandtrace.b\\u0000c\":\"x\"}}",
        &out);
    assert_string_equal(
        st_buf_cstr(&out),
        "{\"annotations\":{\"io.kubernetes.cri.image-name\":\"img:1\",\"io.sandtrace.policy\":\"p\"},"
        "\"args\":[\"sh\",\"-c\",\"true\"],"
        "\"capabilities\":{\"ambient\":[],\"bounding\":[\"CAP_KILL\"],\"effective\":[\"CAP_KILL\"],"
        "\"inheritable\":[],\"permitted\":[]},"
        "\"cgroups_path\":\"/cg\",\"cwd\":\"/\",\"env_names\":[\"PATH\",\"TOKEN\"],\"hostname\":\"h\","
        "\"image\":\"img:1\","
        "\"mounts\":[{\"destination\":\"/proc\",\"options\":[\"ro\"],\"source\":\"proc\",\"type\":\"proc\"}],"
        "\"namespaces\":[{\"type\":\"pid\"},{\"path\":\"/n\",\"type\":\"network\"}],"
        "\"no_new_privileges\":true,\"readonly_root\":true,\"rootfs\":\"/run/b/rootfs\","
        "\"seccomp\":{\"default_action\":\"SCMP_ACT_ERRNO\",\"listener\":null,\"rules\":1},"
        "\"user\":{\"additional_gids\":[4,24],\"gid\":100,\"uid\":1000}}");
}

static void a_bare_config_gives_bare_facts(void **state)
{
    st_auto_buf out = ST_BUF_INIT;

    (void)state;
    facts_of("{\"ociVersion\":\"1.0.2\"}", &out);
    assert_string_equal(
        st_buf_cstr(&out),
        "{\"annotations\":{},\"args\":[],\"capabilities\":null,\"env_names\":[],\"image\":null,"
        "\"mounts\":[],\"namespaces\":[],\"no_new_privileges\":false,\"readonly_root\":false,"
        "\"seccomp\":null,\"user\":null}");
}

static void what_libocispec_refuses_is_incomplete(void **state)
{
    st_auto_buf out = ST_BUF_INIT;

    (void)state;
    facts_of("{\"process\":{}}", &out);
    assert_non_null(strstr(st_buf_cstr(&out), "\"incomplete\":true,\"reason\":\""));
}

static void facts_are_bounded_and_say_what_was_cut(void **state)
{
    st_auto_buf text = ST_BUF_INIT, out = ST_BUF_INIT;

    (void)state;
    st_buf_adds(&text, "{\"ociVersion\":\"1.0.2\",\"process\":{\"cwd\":\"/\",\"args\":[\"");
    for (int i = 0; i < 3000; i++) /* cut within a character: the whole character goes */
        st_buf_adds(&text, "\xe2\x82\xac");
    st_buf_adds(&text, "\"");
    for (int i = 0; i < 5000; i++)
        st_buf_addf(&text, ",\"argument number %d of very many\"", i);
    st_buf_adds(&text, "]},\"mounts\":[{\"destination\":\"/\"}");
    for (int i = 0; i < 5000; i++)
        st_buf_addf(
            &text,
            ",{\"destination\":\"/m%d\",\"options\":[\"a\",\"b\",\"c\"],\"source\":\"/a/rather/long/path\"}",
            i);
    st_buf_adds(&text, "]}");
    facts_of(st_buf_cstr(&text), &out);
    assert_true(out.len < 160 * 1024);
    assert_non_null(strstr(st_buf_cstr(&out), "\"truncated\":true,\"user\":null}"));
    assert_null(strstr(st_buf_cstr(&out), "\xef\xbf\xbd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_that_runtimes_write_is_read),
        cmocka_unit_test(a_stopped_container_has_no_pid),
        cmocka_unit_test(a_hostile_state_is_refused),
        cmocka_unit_test(the_facts_are_what_was_granted_and_no_secret),
        cmocka_unit_test(a_bare_config_gives_bare_facts),
        cmocka_unit_test(what_libocispec_refuses_is_incomplete),
        cmocka_unit_test(facts_are_bounded_and_say_what_was_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
