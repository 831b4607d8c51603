/* What `sandtrace install` makes of the files of engines: ours goes in, nothing else changes, and out again.
 */
#include "base/cleanup.h"
#include "cli/engine.h"

#include "unit.h"

#include <errno.h>
#include <stdio.h>

#define RUNTIME "/usr/bin/sandtrace-runtime"
#define FIRST "# >>> sandtrace install: `sandtrace install --uninstall` takes this away\n"
#define LAST "# <<< sandtrace install\n"

struct pair {
    const char *before, *after;
};

static void put_in(const struct st_engine *e, const char *text, const char *runtime, struct st_buf *out)
{
    struct st_error err = {0};

    if (e->add(text, strlen(text), runtime, out, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
}

/* After it is put in it is found, and to put it in again changes nothing. */
static void check_all(const struct st_engine *e, const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        st_auto_buf once = ST_BUF_INIT, twice = ST_BUF_INIT, gone = ST_BUF_INIT;
        st_auto_free char *found = NULL, *nothing = NULL;
        struct st_error err = {0};

        put_in(e, pairs[i].before, RUNTIME, &once);
        assert_string_equal(st_buf_cstr(&once), pairs[i].after);
        put_in(e, st_buf_cstr(&once), RUNTIME, &twice);
        assert_string_equal(st_buf_cstr(&twice), pairs[i].after);
        assert_int_equal(e->find(once.data, once.len, &found, &err), 0);
        assert_string_equal(found, RUNTIME);
        assert_int_equal(e->drop(once.data, once.len, &gone, &err), 0);
        assert_int_equal(e->find(st_buf_cstr(&gone), gone.len, &nothing, &err), 0);
        assert_null(nothing);
    }
}

#define OURS "\"sandtrace\": { \"path\": \"" RUNTIME "\" }"

static void docker_keeps_what_is_there(void **state)
{
    static const struct pair pairs[] = {
        {"", "{\n    \"runtimes\": {\n        " OURS "\n    }\n}\n"},
        {" \n", "{\n    \"runtimes\": {\n        " OURS "\n    }\n}\n"},
        {"{}", "{\n    \"runtimes\": {\n        " OURS "\n    }\n}"},
        {"{\n}\n", "{\n    \"runtimes\": {\n        " OURS "\n    }\n}\n"},
        {"{\n  \"debug\": true\n}\n", "{\n  \"debug\": true,\n  \"runtimes\": {\n      " OURS "\n  }\n}\n"},
        {"{\n\t\"a\": 1e400,\n\t\"b\": [ 1 ,2 ]\n}",
         "{\n\t\"a\": 1e400,\n\t\"b\": [ 1 ,2 ],\n\t\"runtimes\": {\n\t    " OURS "\n\t}\n}"},
        {"{\"debug\":true}", "{\"debug\":true, \"runtimes\": { " OURS " }}"},
        {"{\n  \"runtimes\": {}\n}", "{\n  \"runtimes\": {\n      " OURS "\n  }\n}"},
        {"{\n  \"runtimes\": {\n    \"kata\": {\n      \"path\": \"/k\"\n    }\n  },\n  \"x\": 1\n}",
         "{\n  \"runtimes\": {\n    \"kata\": {\n      \"path\": \"/k\"\n    },\n    " OURS
         "\n  },\n  \"x\": 1\n}"},
        {"{\"runtimes\": {\"sandtrace\": {\"path\": \"/old\", \"runtimeArgs\": [\"x\"]}}}",
         "{\"runtimes\": {\"sandtrace\": {\"path\": \"" RUNTIME "\", \"runtimeArgs\": [\"x\"]}}}"},
    };

    (void)state;
    check_all(&st_engine_docker, pairs, N_OF(pairs));
}

static void docker_is_left_without_a_default_that_is_gone(void **state)
{
    static const char text[] =
        "{\"default-runtime\": \"sandtrace\", \"debug\": true, \"runtimes\": {" OURS "}}";
    st_auto_buf out = ST_BUF_INIT;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_engine_docker.drop(text, strlen(text), &out, &err), 0);
    assert_null(strstr(st_buf_cstr(&out), "sandtrace"));
    assert_non_null(strstr(st_buf_cstr(&out), "\"debug\": true"));
}

#define V2 "plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.sandtrace"
#define V3 "plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.sandtrace"
#define RUNC(plugin)                                                                                         \
    "# The default, which containerd forgets as soon as another is named.\n[plugins.\"" plugin               \
    "\".containerd.runtimes.runc]\n  runtime_type = \"io.containerd.runc.v2\"\n"
#define RUNC2 RUNC("io.containerd.grpc.v1.cri")
#define HANDLER(table, more)                                                                                 \
    "[" table "]\n  runtime_type = \"io.containerd.runc.v2\"\n  pod_annotations = [\"io.sandtrace.*\"]\n"    \
    "  container_annotations = [\"io.sandtrace.*\"]\n  [" table ".options]\n    BinaryName = \"" RUNTIME     \
    "\"\n" more

static void containerd_keeps_what_is_there(void **state)
{
    static const struct pair pairs[] = {
        {"", "version = 2\n\n" FIRST RUNC2 HANDLER(V2, "") LAST},
        {"# mine", "# mine\nversion = 2\n\n" FIRST RUNC2 HANDLER(V2, "") LAST},
        {"version = 2", "version = 2\n\n" FIRST RUNC2 HANDLER(V2, "") LAST},
        {"version = 3 # new\n[grpc]\n  address = '/x'\n",
         "version = 3 # new\n[grpc]\n  address = '/x'\n\n" FIRST RUNC("io.containerd.cri.v1.runtime")
             HANDLER(V3, "") LAST},
        {"version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
         "SystemdCgroup = true # as kubelet\n",
         "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
         "SystemdCgroup = true # as kubelet\n\n" FIRST HANDLER(V2, "    SystemdCgroup = true\n") LAST},
    };

    (void)state;
    check_all(&st_engine_containerd, pairs, N_OF(pairs));
}

static void podman_keeps_what_is_there(void **state)
{
    static const struct pair pairs[] = {
        {"", FIRST "[engine.runtimes]\nsandtrace = [\"" RUNTIME "\"]\n" LAST},
        {"[engine]\nruntime = \"crun\" # fast\n", "[engine]\nruntime = \"crun\" # fast\n\n" FIRST
                                                  "[engine.runtimes]\nsandtrace = [\"" RUNTIME "\"]\n" LAST},
        {"[engine.runtimes] # ours\nkata = ['/k']\n[containers]\n",
         "[engine.runtimes] # ours\n" FIRST "sandtrace = [\"" RUNTIME "\"]\n" LAST
         "kata = ['/k']\n[containers]\n"},
        {"[engine.runtimes]", "[engine.runtimes]\n" FIRST "sandtrace = [\"" RUNTIME "\"]\n" LAST},
        {"[engine.runtimes]\nsandtrace = [ '" RUNTIME "', \"/other\" ]\n",
         "[engine.runtimes]\nsandtrace = [ '" RUNTIME "', \"/other\" ]\n"},
    };

    (void)state;
    check_all(&st_engine_podman, pairs, N_OF(pairs) - 1);
    {
        st_auto_buf same = ST_BUF_INIT;

        put_in(&st_engine_podman, pairs[4].before, RUNTIME, &same);
        assert_string_equal(st_buf_cstr(&same), pairs[4].after);
    }
}

static void another_place_of_the_runtime_takes_the_place_of_the_first(void **state)
{
    static const char *const texts[] = {"{\n  \"a\": 1\n}\n", "[x]\ny = 1\n", "version = 2\n[x]\ny = 1\n"};
    size_t i = 0;

    (void)state;
    for (const struct st_engine *const *e = st_engines(); *e; e++, i++) {
        st_auto_buf first = ST_BUF_INIT, moved = ST_BUF_INIT, back = ST_BUF_INIT;

        put_in(*e, texts[i], RUNTIME, &first);
        put_in(*e, st_buf_cstr(&first), "/opt/a \"b\"", &moved);
        assert_null(strstr(st_buf_cstr(&moved), RUNTIME));
        assert_non_null(strstr(st_buf_cstr(&moved), "/opt/a \\\"b\\\""));
        put_in(*e, st_buf_cstr(&moved), RUNTIME, &back);
        assert_string_equal(st_buf_cstr(&back), st_buf_cstr(&first));
    }
}

static void what_can_not_be_changed_safely_is_refused(void **state)
{
    static const struct {
        const struct st_engine *engine;
        const char *text, *why;
    } cases[] = {
        {&st_engine_docker, "{", "parse error"},
        {&st_engine_docker, "[]", "holds no object"},
        {&st_engine_docker, "{\"runtimes\": []}", "\"runtimes\" is no object"},
        {&st_engine_docker, "{\"a\": 1, \"a\": 2}", "a"},
        {&st_engine_docker, "{} // comment", "error"},
        {&st_engine_docker, "{\"runtimes\": {\"sandtrace\": {\"runtimeType\": \"x\"}}}", "which is not ours"},
        {&st_engine_containerd, "disabled_plugins = [\"cri\"]\n", "containerd config migrate"},
        {&st_engine_containerd, "version = 1\n", "containerd config migrate"},
        {&st_engine_containerd, "version = 2\nplugins = {}\n", "not written as a [table]"},
        {&st_engine_containerd, "version = 2\n[" V2 "]\nruntime_type = 'x'\n", "not put there by"},
        {&st_engine_containerd,
         "version = 2\n" FIRST "[" V2 ".options]\nBinaryName = '/x'\n" LAST "[" V2 "]\nruntime_type = 'x'\n",
         "stands outside of the lines"},
        {&st_engine_containerd, "version = 2\nx = [\n", "line 3, column 1"},
        {&st_engine_podman, "[engine]\nruntimes = {}\n", "not written as a [table]"},
        {&st_engine_podman, "engine.runtimes.kata = ['/k']\n", "write them as one first"},
        {&st_engine_podman, "[engine.runtimes]\nsandtrace = ['/mine']\n", "not put there by"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf out = ST_BUF_INIT;
        struct st_error err = {0};

        if (cases[i].engine->add(cases[i].text, strlen(cases[i].text), RUNTIME, &out, &err) == 0)
            fail_msg("%s: passed", cases[i].text);
        if (!strstr(err.msg, cases[i].why))
            fail_msg("%s: %s", cases[i].text, err.msg);
    }
}

/* A text cut anywhere, with whichever byte behind: each function comes to an end, and what it makes is found
 * again. */
static void hostile_bytes_do_no_harm(void **state)
{
    static const char *const texts[] = {
        "{\n  \"runtimes\": { \"sandtrace\": { \"path\": \"/x\" } }, \"default-runtime\": \"sandtrace\" }",
        FIRST "[engine.runtimes]\nsandtrace = [\"/x\"]\n" LAST "[a]\n",
        "version = 2\n" FIRST HANDLER(V2, "") LAST "# end"};
    static const char bytes[] = "\0\n\"'[]{}=,#\\\xff";
    size_t which = 0;

    (void)state;
    for (const struct st_engine *const *e = st_engines(); *e; e++, which++)
        for (size_t len = 0; len <= strlen(texts[which]); len++)
            for (size_t b = 0; b < sizeof(bytes); b++) {
                st_auto_free char *copy = malloc(len + 1), *found = NULL, *again = NULL;
                st_auto_buf in = ST_BUF_INIT, out = ST_BUF_INIT;
                struct st_error err = {0};

                memcpy(copy, texts[which], len);
                copy[len] = bytes[b];
                (*e)->find(copy, len + 1, &found, &err);
                (*e)->drop(copy, len + 1, &out, &err);
                if ((*e)->add(copy, len + 1, RUNTIME, &in, &err) < 0)
                    continue;
                assert_int_equal((*e)->find(st_buf_cstr(&in), in.len, &again, &err), 0);
                assert_string_equal(again, RUNTIME);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docker_keeps_what_is_there),
        cmocka_unit_test(docker_is_left_without_a_default_that_is_gone),
        cmocka_unit_test(containerd_keeps_what_is_there),
        cmocka_unit_test(podman_keeps_what_is_there),
        cmocka_unit_test(another_place_of_the_runtime_takes_the_place_of_the_first),
        cmocka_unit_test(what_can_not_be_changed_safely_is_refused),
        cmocka_unit_test(hostile_bytes_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
