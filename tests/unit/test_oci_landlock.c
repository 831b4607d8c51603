/* Landlock's floor in config.json: the helper's words before the command, the rules in the note, and back. */
#include "oci/floor_edit.h"
#include "oci/landlock_edit.h"

#include "base/cleanup.h"

#include "unit.h"

#define MOUNTS                                                                                               \
    "[{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"},"                                    \
    "{\"destination\":\"/sys\",\"type\":\"sysfs\",\"source\":\"sysfs\",\"options\":[\"ro\"]},"               \
    "{\"destination\":\"/cg\",\"type\":\"cgroup2\",\"source\":\"cgroup\",\"options\":[\"rw\"]},"             \
    "{\"destination\":\"/tmp\",\"type\":\"tmpfs\",\"source\":\"tmpfs\"},"                                    \
    "{\"destination\":\"/other\",\"type\":\"tmpfs\",\"source\":\"tmpfs\"}]"
#define DEVICES                                                                                              \
    "[{\"path\":\"/dev/fuse\",\"type\":\"c\"},{\"path\":\"/dev/disk\",\"type\":\"b\"},{\"path\":\"fuse\","   \
    "\"type\":\"c\"}]"
#define KERNEL                                                                                               \
    "\"=/proc\",\"+/cg\",\"=/dev/null\",\"=/dev/zero\",\"=/dev/full\",\"=/dev/random\",\"=/dev/urandom\","   \
    "\"=/dev/tty\",\"=/dev/console\",\"=/dev/fuse\""
#define RULES "\"+/tmp\"," KERNEL
#define NOTE                                                                                                 \
    "{\"abi\":7,\"guarded\":[],\"landlock\":[" RULES "],\"readonly\":[],\"root\":false,\"writable\":[]}"
#define CONFIG(mounts, args)                                                                                 \
    "{\"mounts\":" mounts ",\"linux\":{\"devices\":" DEVICES "},\"process\":{\"args\":" args "} }"

static const char *const scope[] = {"/tmp"};
static const struct st_oci_floor plan = {
    .rootfs = "/nowhere", .scope = scope, .n_scope = 1, .helper = 5, .abi = 7};

static int lay(const char *text, struct st_buf *note, struct st_buf *out, struct st_error *err)
{
    st_auto_oci_config config = NULL;
    int rc = st_oci_config_parse(text, strlen(text), &config, err);

    if (rc == 0)
        rc = st_oci_set_floor(config, &plan, note, err);
    return rc < 0 ? rc : st_json_edit_apply(st_oci_config_edit(config), out, err);
}

static void words_go_before_the_command_and_come_away_again(void **state)
{
    /* The command is what is written; one that looks like ours is a command too. */
    static const char *const commands[] = {"\"sh\"", "\"\\u00e9\",\"--\", \"\"",
                                           "\"/proc/self/fd/5\",\"sandtrace-landlock\",\"--\",\"sh\""};

    (void)state;
    for (size_t i = 0; i < N_OF(commands); i++) {
        st_auto_buf before = ST_BUF_INIT, after = ST_BUF_INIT, note = ST_BUF_INIT, got = ST_BUF_INIT,
                    back = ST_BUF_INIT;
        st_auto_oci_config config = NULL;

        st_buf_addf(&before, CONFIG(MOUNTS, "[%s]"), commands[i]);
        st_buf_addf(&after,
                    CONFIG(MOUNTS, "[\"/proc/self/fd/5\",\"sandtrace-landlock\"," RULES ",\"--\",%s]"),
                    commands[i]);
        assert_int_equal(lay(st_buf_cstr(&before), &note, &got, NULL), 0);
        if (i != 1) /* of the white space between words none is kept */
            assert_string_equal(st_buf_cstr(&got), st_buf_cstr(&after));
        assert_string_equal(st_buf_cstr(&note), NOTE);
        assert_int_equal(st_oci_config_parse(got.data, got.len, &config, NULL), 0);
        assert_int_equal(st_oci_reset_floor(config, st_buf_cstr(&note), NULL), 0);
        assert_int_equal(st_json_edit_apply(st_oci_config_edit(config), &back, NULL), 0);
        if (i != 1)
            assert_string_equal(st_buf_cstr(&back), st_buf_cstr(&before));
    }
}

static void what_can_not_get_it_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {CONFIG("[]", "[\"sh\"]"), "needs a /proc"},
        {CONFIG("[{\"destination\":\"/proc\",\"type\":\"bind\"}]", "[\"sh\"]"), "needs a /proc"},
        {CONFIG(MOUNTS, "[]"), "the process has no `args`"},
        {CONFIG(MOUNTS, "null"), "the process has no `args`"},
        {CONFIG(MOUNTS, "\"sh\""), "the process has no `args`"},
        {CONFIG(MOUNTS, "[\"sh\",1]"), "not all are texts"},
        {"{\"mounts\":" MOUNTS "}", "the process has no `args`"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf note = ST_BUF_INIT, got = ST_BUF_INIT;
        struct st_error err = {0};

        assert_true(lay(cases[i].text, &note, &got, &err) < 0);
        assert_non_null(strstr(err.msg, cases[i].says));
    }
}

static void a_note_gives_the_words_again(void **state)
{
    st_auto_oci_landlock l = {0}, none = {0};
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_oci_landlock_by_note("{\"landlock\":[\"+/a b\",\"=/c\"]}", 12, &l, &err), 1);
    assert_int_equal(l.n, 5);
    assert_string_equal(l.words[0], "/proc/self/fd/12");
    assert_string_equal(l.words[2], "+/a b");
    assert_string_equal(l.words[4], "--");
    assert_int_equal(st_oci_landlock_count(l.words, l.n), 5);
    assert_int_equal(st_oci_landlock_count(l.words, l.n - 1), 0);
    assert_int_equal(st_oci_landlock_by_note("{\"writable\":[]}", 3, &none, &err), 0);
    assert_true(st_oci_landlock_by_note("{\"landlock\":[1]}", 3, &none, &err) < 0);
    assert_true(st_oci_landlock_by_note("{\"landlock\":", 3, &none, &err) < 0);
    assert_int_equal(none.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_go_before_the_command_and_come_away_again),
        cmocka_unit_test(what_can_not_get_it_is_refused),
        cmocka_unit_test(a_note_gives_the_words_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
