/* sandtrace run: what is asked for, the container's configuration, and what is made of words of others. */
#include "base/json.h"
#include "cli/run_args.h"
#include "cli/run_folder.h"
#include "cli/run_pause.h"
#include "cli/run_runtime.h"
#include "cli/run_spec.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- arguments ---- */

static void a_bind_has_a_source_and_maybe_a_target_and_an_access(void **state)
{
    static const struct {
        const char *text, *source, *target;
        bool readonly;
    } good[] = {{"data", "data", NULL, false},
                {"/a b:/c d", "/a b", "/c d", false},
                {"data:ro", "data", NULL, true},
                {"/a:/b:ro", "/a", "/b", true},
                {"/a:/b:rw", "/a", "/b", false},
                {"/a:/b//./c/", "/a", "/b/c", false},
                {"/a:/b/../c", "/a", "/c", false},
                {"x:/usr/share/y", "x", "/usr/share/y", false},
                {"x:/etc/y.conf:ro", "x", "/etc/y.conf", true}};
    (void)state;

    for (size_t i = 0; i < N_OF(good); i++) {
        st_auto_run_args a = {0};

        assert_int_equal(st_run_add_bind(&a, good[i].text, NULL), 0);
        assert_int_equal(a.n_binds, 1);
        assert_string_equal(a.binds[0].source, good[i].source);
        assert_int_equal(a.binds[0].readonly, good[i].readonly);
        if (good[i].target)
            assert_string_equal(a.binds[0].target, good[i].target);
        else
            assert_null(a.binds[0].target);
    }
}

static void a_bind_over_what_the_container_stands_on_is_refused(void **state)
{
    static const char *const bad[] = {"",           ":",       ":/x",         "a:b",      "a:/b:rx",
                                      "a:/b:ro:ro", "a:/",     "a:/proc",     "a:/dev/x", "a:/sys/fs",
                                      "a:/usr",     "a:/etc/", "a:/x/../usr", "a::ro",    "a:/proc/../proc/1",
                                      "a:/x\ny",    "a:/lib64"};
    (void)state;

    for (size_t i = 0; i < N_OF(bad); i++) {
        st_auto_run_args a = {0};
        struct st_error err = {0};

        assert_true(st_run_add_bind(&a, bad[i], &err) < 0);
        assert_true(err.msg[0]);
        assert_int_equal(a.n_binds, 0);
    }
}

static void networks_are_three(void **state)
{
    enum st_run_network n = ST_RUN_NET_NONE;
    struct st_error err = {0};
    (void)state;

    assert_int_equal(st_run_parse_network("user", &n, &err), 0);
    assert_int_equal(n, ST_RUN_NET_USER);
    assert_int_equal(st_run_parse_network("host", &n, &err), 0);
    assert_int_equal(n, ST_RUN_NET_HOST);
    assert_true(st_run_parse_network("Host", &n, &err) < 0);
    assert_true(st_run_parse_network("", &n, &err) < 0);
}

static void a_variable_has_a_name(void **state)
{
    st_auto_run_args a = {0};
    struct st_error err = {0};
    (void)state;

    assert_int_equal(st_run_add_env(&a, "A=1=2", &err), 0);
    assert_int_equal(st_run_add_env(&a, "B", &err), 0);
    assert_true(st_run_add_env(&a, "=x", &err) < 0);
    assert_true(st_run_add_env(&a, "", &err) < 0);
    assert_int_equal(a.n_env, 2);
}

static void ids_are_numbers_that_somebody_can_have(void **state)
{
    static const char *const names[] = {"",   "root",  "1x",         "-1",          "1:", "1:x",
                                        ":1", "1:2:3", "4294967295", "99999999999", " 1", "0x10"};
    unsigned uid, gid = 0;
    bool has_gid;
    (void)state;

    assert_true(st_run_parse_ids("1000", &uid, &gid, &has_gid) && uid == 1000 && !has_gid);
    assert_true(st_run_parse_ids("0:4294967294", &uid, &gid, &has_gid) && uid == 0 && has_gid &&
                gid == 4294967294U);
    for (size_t i = 0; i < N_OF(names); i++)
        assert_false(st_run_parse_ids(names[i], &uid, &gid, &has_gid));
}

static void a_folder_with_more_than_the_work_is_refused(void **state)
{
    static const char *const bad[] = {"/",    "/home", "/home/ann", "/tmp",    "/var/tmp",
                                      "/etc", "/run",  "/run/x",    "/proc/1", "/dev/shm",
                                      "/usr", "/root", "/var/run/x"};
    static const char *const good[] = {"/home/ann/work", "/home/bob", "/home/annie", "/tmp/x",
                                       "/srv/x",         "/runner",   "/work"};
    struct st_error err = {0};
    (void)state;

    for (size_t i = 0; i < N_OF(bad); i++)
        assert_true(st_run_check_folder(bad[i], "/home/ann", &err) < 0);
    for (size_t i = 0; i < N_OF(good); i++)
        assert_int_equal(st_run_check_folder(good[i], "/home/ann", &err), 0);
    assert_int_equal(st_run_check_folder("/srv/x", NULL, &err), 0);
    assert_true(st_run_check_folder("/srv/homes", "/srv/homes/ann", &err) < 0);
    assert_int_equal(st_run_check_folder("/srv/x", "/", &err), 0); /* of who has none */
}

/* ---- the configuration ---- */

/* The text must outlive the tree. */
static struct st_json_doc *write(const struct st_run_spec *spec, struct st_buf *text)
{
    struct st_json_doc *doc = NULL;
    struct st_error err = {0};

    st_run_write_spec(spec, text);
    assert_int_equal(st_json_parse(st_buf_cstr(text), text->len, ST_JSON_DEFAULT_LIMITS, &doc, &err), 0);
    return doc;
}

static const char *const words[] = {"/init", "sh", "-c", "echo \"\n\"", NULL};
static const char *const env[] = {"A=1", NULL};

static struct st_run_spec plain(void)
{
    return (struct st_run_spec){.id = "run-0123456789ab",
                                .rootfs = "/r",
                                .policy = "p",
                                .args = words,
                                .env = env,
                                .uid = 1000,
                                .gid = 100,
                                .umask = 022};
}

static const struct st_json_node *at(const struct st_json_doc *doc, const char *a, const char *b)
{
    return st_json_get(st_json_get(st_json_root(doc), a), b);
}

static void the_configuration_says_what_was_asked_for(void **state)
{
    struct st_run_spec spec = plain();
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = write(&spec, &text);
    const struct st_json_node *user = at(doc, "process", "user");
    int64_t n;
    (void)state;

    assert_string_equal(st_json_str(at(doc, "annotations", "io.sandtrace.policy"), NULL), "p");
    assert_string_equal(st_json_str(at(doc, "root", "path"), NULL), "/r");
    assert_string_equal(st_json_str(at(doc, "process", "cwd"), NULL), "/workspace");
    assert_string_equal(st_json_str(at(doc, "linux", "cgroupsPath"), NULL), "/sandtrace-run-0123456789ab");
    assert_true(st_json_true(at(doc, "process", "noNewPrivileges")));
    assert_false(st_json_true(at(doc, "process", "terminal")));
    assert_null(at(doc, "process", "consoleSize"));
    assert_int_equal(st_json_count(at(doc, "process", "args")), 4);
    assert_true(st_json_int(st_json_get(user, "uid"), &n) && n == 1000);
    assert_true(st_json_int(st_json_get(user, "umask"), &n) && n == 18);
}

static void capabilities_are_for_root_only(void **state)
{
    struct st_run_spec spec = plain();
    st_auto_buf text = ST_BUF_INIT, more = ST_BUF_INIT;
    st_auto_json user = write(&spec, &text);
    st_auto_json root = NULL;
    (void)state;

    assert_int_equal(st_json_count(st_json_get(at(user, "process", "capabilities"), "bounding")), 0);
    spec.uid = 0;
    root = write(&spec, &more);
    assert_int_equal(st_json_count(st_json_get(at(root, "process", "capabilities"), "bounding")), 8);
    st_json_each (item, st_json_get(at(root, "process", "capabilities"), "effective"))
        assert_null(strstr(st_json_str(item, NULL), "ADMIN"));
}

static bool has_namespace(const struct st_json_doc *doc, const char *type)
{
    st_json_each (ns, at(doc, "linux", "namespaces"))
        if (strcmp(st_json_str(st_json_get(ns, "type"), NULL), type) == 0)
            return true;
    return false;
}

static void only_the_network_may_be_shared(void **state)
{
    static const char *const own[] = {"pid", "ipc", "uts", "mount", "cgroup"};
    struct st_run_spec spec = plain();
    st_auto_buf text = ST_BUF_INIT, more = ST_BUF_INIT;
    st_auto_json none = write(&spec, &text);
    st_auto_json host = NULL;
    (void)state;

    assert_true(has_namespace(none, "network"));
    spec.network = ST_RUN_NET_HOST;
    host = write(&spec, &more);
    assert_false(has_namespace(host, "network"));
    for (size_t i = 0; i < N_OF(own); i++)
        assert_true(has_namespace(none, own[i]) && has_namespace(host, own[i]));
}

static void what_is_bound_comes_last_and_keeps_its_order(void **state)
{
    static char src[] = "/src", one[] = "/one", two[] = "/one/two";
    const struct st_run_mount mounts[] = {{src, one, false}, {src, two, true}};
    struct st_run_spec spec = plain();
    const struct st_json_node *first = NULL, *last = NULL;
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = NULL;
    bool readonly = false;
    (void)state;

    spec.mounts = mounts;
    spec.n_mounts = N_OF(mounts);
    doc = write(&spec, &text);
    st_json_each (m, st_json_get(st_json_root(doc), "mounts")) {
        first = last;
        last = m;
    }
    assert_string_equal(st_json_str(st_json_get(first, "destination"), NULL), "/one");
    assert_string_equal(st_json_str(st_json_get(last, "destination"), NULL), "/one/two");
    st_json_each (o, st_json_get(last, "options"))
        readonly |= strcmp(st_json_str(o, NULL), "ro") == 0;
    assert_true(readonly);
}

static void a_terminal_has_the_size_of_ours(void **state)
{
    struct st_run_spec spec = plain();
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = NULL;
    int64_t n;
    (void)state;

    spec.terminal = true;
    spec.rows = 30;
    spec.columns = 100;
    doc = write(&spec, &text);
    assert_true(st_json_int(st_json_get(at(doc, "process", "consoleSize"), "width"), &n) && n == 100);
}

/* ---- words of others ---- */

static void only_a_whole_word_is_an_answer(void **state)
{
    static const struct {
        const char *line;
        enum st_run_answer answer;
    } lines[] = {
        {"o\n", ST_ANSWER_ONCE},       {"once\r\n", ST_ANSWER_ONCE},   {" always \n", ST_ANSWER_ALWAYS},
        {"d\n", ST_ANSWER_DENY},       {"kill\n", ST_ANSWER_KILL},     {"\n", ST_ANSWER_NONE},
        {"ok\n", ST_ANSWER_NONE},      {"\033[?6c\n", ST_ANSWER_NONE}, {"\033[1;1Ra\n", ST_ANSWER_NONE},
        {"a\033[c\n", ST_ANSWER_NONE}, {"o\no\n", ST_ANSWER_NONE},     {"A\n", ST_ANSWER_NONE}};
    (void)state;

    for (size_t i = 0; i < N_OF(lines); i++)
        assert_int_equal(st_run_read_answer(lines[i].line, strlen(lines[i].line)), lines[i].answer);
}

static void of_what_a_runtime_says_our_own_words_are_shown(void **state)
{
    static const char *const said[][2] = {
        {"time=\"x\" level=error msg=\"runc create failed: error running hook #0: exit status 1, stdout: , "
         "stderr: "
         "sandtrace-hook: no key; make one\\n\"\n",
         "no key; make one"},
        {"sandtrace-runtime: policy 'x': not there\n", "policy 'x': not there"},
        {"one\ntwo\n", "one; two"},
        {"\033[2J\n", "\\x1b[2J"},
        {"", ""},
    };
    (void)state;

    for (size_t i = 0; i < N_OF(said); i++) {
        st_auto_buf out = ST_BUF_INIT;

        st_run_reason(said[i][0], strlen(said[i][0]), &out);
        assert_string_equal(st_buf_cstr(&out), said[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bind_has_a_source_and_maybe_a_target_and_an_access),
        cmocka_unit_test(a_bind_over_what_the_container_stands_on_is_refused),
        cmocka_unit_test(networks_are_three),
        cmocka_unit_test(a_variable_has_a_name),
        cmocka_unit_test(ids_are_numbers_that_somebody_can_have),
        cmocka_unit_test(a_folder_with_more_than_the_work_is_refused),
        cmocka_unit_test(the_configuration_says_what_was_asked_for),
        cmocka_unit_test(capabilities_are_for_root_only),
        cmocka_unit_test(only_the_network_may_be_shared),
        cmocka_unit_test(what_is_bound_comes_last_and_keeps_its_order),
        cmocka_unit_test(a_terminal_has_the_size_of_ours),
        cmocka_unit_test(only_a_whole_word_is_an_answer),
        cmocka_unit_test(of_what_a_runtime_says_our_own_words_are_shown),
    };

    return cmocka_run_group_tests_name("cli run", tests, NULL, NULL);
}
