/* Editing config.json: our hooks in the right place, all other bytes as they were, or a refusal. */
#include "oci/hook_edit.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const create_args[] = {"sandtrace-hook", "create", "--config", "/etc/x \"y\".yaml", NULL};
static const char *const env[] = {"PATH=/bin", NULL};
static const struct st_oci_hook create_hook = {"/l/sandtrace-hook", create_args, env, 30};

#define CREATE                                                                                               \
    "{\"args\":[\"sandtrace-hook\",\"create\",\"--config\",\"/etc/x "                                        \
    "\\\"y\\\".yaml\"],\"env\":[\"PATH=/bin\"],"                                                             \
    "\"path\":\"/l/sandtrace-hook\",\"timeout\":30}"
#define STOP                                                                                                 \
    "{\"args\":[\"sandtrace-hook\",\"poststop\"],\"env\":[\"PATH=/bin\"],\"path\":\"/l/sandtrace-hook\"}"
#define OURS "\"createRuntime\":[" CREATE "]"

/* The text with our hooks, or what is said against it. */
static int edit(const char *text, struct st_buf *out, struct st_error *err)
{
    st_auto_oci_config config = NULL;
    int rc = st_oci_config_parse(text, strlen(text), &config, err);

    if (rc == 0)
        rc = st_oci_set_hooks(config, &create_hook, NULL, err);
    if (rc == 0)
        rc = st_json_edit_apply(st_oci_config_edit(config), out, err);
    return rc;
}

static void hooks_are_added_last_and_nothing_else_changes(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"{}", "{\"hooks\":{" OURS "}}"},
        {"{\"hooks\":null}", "{\"hooks\":{" OURS "}}"},
        {"{\"hooks\":{}}", "{\"hooks\":{" OURS "}}"},
        {"{\"hooks\":{\"prestart\":[{\"path\":\"/d\",\"args\":[\"libnetwork\"]}]},\"z\":1}",
         "{\"hooks\":{\"prestart\":[{\"path\":\"/d\",\"args\":[\"libnetwork\"]}]," OURS "},\"z\":1}"},
        {"{\"hooks\":{\"createRuntime\":[{\"path\":\"/a\"},{\"path\":\"/b\"}],\"poststop\":null}}",
         "{\"hooks\":{\"createRuntime\":[{\"path\":\"/a\"},{\"path\":\"/b\"}," CREATE
         "],\"poststop\":null}}"},
        /* numbers, unknown keys, nulls, empties, unicode, lone surrogates, white space: bit for bit */
        {"{\r\n\t\"a\" : 18446744073709551616 ,\"b\":-0.0e-7, \"c\":123456789012345678901234567890,"
         "\"\":\"\\ud800 \\u00e9 \xc3\xa9 \\/\",\"n\":null,\"e\":{} , \"l\" : [ ] }\n\n",
         "{\r\n\t\"a\" : 18446744073709551616 ,\"b\":-0.0e-7, \"c\":123456789012345678901234567890,"
         "\"\":\"\\ud800 \\u00e9 \xc3\xa9 \\/\",\"n\":null,\"e\":{} , \"l\" : [ ],\"hooks\":{" OURS
         "} }\n\n"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf once = ST_BUF_INIT, twice = ST_BUF_INIT;
        struct st_error err = {0};

        if (edit(cases[i].before, &once, &err) < 0)
            fail_msg("%s: %s", cases[i].before, err.msg);
        assert_string_equal(st_buf_cstr(&once), cases[i].after);
        assert_int_equal(edit(st_buf_cstr(&once), &twice, &err), 0);
        assert_string_equal(st_buf_cstr(&twice), cases[i].after);
    }
}

static void an_older_entry_of_ours_is_replaced(void **state)
{
    static const char *const cases[] = {
        /* another path, another option, in the wrong stage, in the middle, twice, called by its first
           argument */
        "{\"hooks\":{\"createRuntime\":[{\"path\":\"/old/sandtrace-hook\"}],\"poststop\":[]}}",
        "{\"hooks\":{\"createRuntime\":[{\"path\":\"/"
        "x\",\"args\":[\"sandtrace-hook\",\"create\"]}],\"poststop\":[]}}",
        "{\"hooks\":{\"createRuntime\":[" CREATE "," CREATE "],\"poststop\":[" STOP "," CREATE "]}}",
        "{\"hooks\":{\"createRuntime\":[ " CREATE " ,{\"path\":\"sandtrace-hook\"}],\"poststop\":[" STOP
        "]}}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf out = ST_BUF_INIT;
        struct st_error err = {0};
        const char *first, *text;

        assert_int_equal(edit(cases[i], &out, &err), 0);
        text = st_buf_cstr(&out);
        first = strstr(text, CREATE);
        assert_non_null(first);
        assert_null(strstr(first + 1, CREATE));
        assert_null(strstr(text, "/old/"));
        assert_null(strstr(text, "\"path\":\"sandtrace-hook\""));
        assert_null(strstr(text, STOP));
        assert_non_null(strstr(text, "\"poststop\":[]}}"));
    }
}

static void an_entry_in_a_hooks_directory_stage_is_taken_over(void **state)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(
        edit("{\"hooks\":{\"prestart\":[{\"path\":\"/net\"},{\"path\":\"/p/sandtrace-hook\",\"args\":"
             "[\"sandtrace-hook\",\"create\"]}],\"createRuntime\":[" CREATE ",{\"path\":\"/late\"}]}}",
             &out, &err),
        0);
    assert_string_equal(st_buf_cstr(&out),
                        "{\"hooks\":{\"prestart\":[{\"path\":\"/net\"}],\"createRuntime\":["
                        "{\"path\":\"/late\"}," CREATE "]}}");
}

static void hooks_of_ours_can_be_taken_out(void **state)
{
    static const char text[] =
        "{\"hooks\":{\"prestart\":[{\"path\":\"/net\"}]," OURS ",\"poststop\":[" STOP "]}}";
    st_auto_buf out = ST_BUF_INIT;
    st_auto_oci_config config = NULL;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_oci_config_parse(text, strlen(text), &config, &err), 0);
    st_oci_drop_hooks(config);
    assert_int_equal(st_json_edit_apply(st_oci_config_edit(config), &out, &err), 0);
    assert_string_equal(
        st_buf_cstr(&out),
        "{\"hooks\":{\"prestart\":[{\"path\":\"/net\"}],\"createRuntime\":[],\"poststop\":[]}}");
}

static void what_runtimes_would_read_differently_is_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "line 1, column 1"},
        {"{\"a\":1,\n  \"b\" 2}", "line 2, column "},
        {"[]", "line 1, column 1: not a JSON object"},
        {"null", "not a JSON object"},
        {"{\"hooks\":{},\"hooks\":{}}", "duplicate key"},
        {"{\"hooks\":{},\"ho\\u006fks\":{}}", "duplicate key"},
        {"{\"x\":1,\n\"Hooks\":{}}", "line 2, column 1: key `Hooks`: runc would take it for `hooks`"},
        {"{\"hoo\xe2\x84\xaas\":{}}", "runc would take it for `hooks`"},
        {"{\"hook\xc5\xbf\":{}}", "runc would take it for `hooks`"},
        {"{\"hook\\u017f\":{}}", "runc would take it for `hooks`"},
        {"{\"ANNOTATIONS\":{}}", "runc would take it for `annotations`"},
        {"{\"hooks\":{\"createruntime\":[]}}", "runc would take it for `createRuntime`"},
        {"{\"hooks\":{\"prestart\":[{\"Path\":\"/x\"}]}}", "runc would take it for `path`"},
        {"{\"process\":{\"Env\":[]}}", "runc would take it for `env`"},
        {"{\"root\":{\"readOnly\":true}}", "runc would take it for `readonly`"},
        {"{\"linux\":{\"Seccomp\":{}}}", "runc would take it for `seccomp`"},
        {"{\"linux\":{\"seccomp\":{\"syscalls\":[{},{\"Action\":\"x\"}]}}}",
         "runc would take it for `action`"},
        {"{\"mounts\":[{\"DESTINATION\":\"/\"}]}", "runc would take it for `destination`"},
        {"{\"hooks\":[]}", "`hooks` is not an object"},
        {"{\"hooks\":{\"createRuntime\":{}}}", "`createRuntime` is not an array"},
        {"{\"a\":\"\xff\"}", "invalid"},
        {"{} {}", "trailing garbage"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf out = ST_BUF_INIT;
        struct st_error err = {0};

        if (edit(cases[i].text, &out, &err) >= 0 || !strstr(err.msg, cases[i].why))
            fail_msg("%s: said '%s', not '%s'", cases[i].text, err.msg, cases[i].why);
    }
}

static void keys_that_only_look_similar_are_let_be(void **state)
{
    static const char *const cases[] = {
        "{\"annotations\":{\"a\":\"1\",\"A\":\"2\",\"hooks\":\"\",\"Hooks\":\"\"}}",
        "{\"hooksy\":1,\"xhooks\":2,\"future\":{\"Hooks\":{}}}",
        "{\"hook\xc3\x9f\":1,\"h\xc3\xb6oks\":2}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf out = ST_BUF_INIT;
        struct st_error err = {0};

        if (edit(cases[i], &out, &err) < 0)
            fail_msg("%s: %s", cases[i], err.msg);
    }
}

/* ---- files ------------------------------------------------------------------------------------------ */

struct bundle {
    char dir[64], file[96];
};

static int make_bundle(void **state)
{
    struct bundle *b = st_xcalloc(1, sizeof(*b));

    memcpy(b->dir, "/tmp/sandtrace-bundle.XXXXXX", sizeof("/tmp/sandtrace-bundle.XXXXXX"));
    if (!mkdtemp(b->dir))
        return -1;
    snprintf(b->file, sizeof(b->file), "%s/config.json", b->dir);
    *state = b;
    return 0;
}

static int remove_bundle(void **state)
{
    struct bundle *b = *state;
    DIR *dir = opendir(b->dir);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    if (rmdir(b->dir) < 0)
        return -1;
    free(b);
    return 0;
}

static void put(const char *path, const char *text, mode_t mode)
{
    st_auto_fd fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(st_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
}

static int edit_bundle(const char *bundle, const char *file, struct st_error *err)
{
    st_auto_oci_config config = NULL;
    int rc = st_oci_config_load(bundle, file, &config, err);

    if (rc == 0)
        rc = st_oci_set_hooks(config, &create_hook, NULL, err);
    return rc < 0 ? rc : st_oci_config_flush(config, err);
}

static int count_entries(const char *dir)
{
    st_auto_dir d = opendir(dir);
    int n = 0;

    while (readdir(d))
        n++;
    return n - 2;
}

static void a_file_keeps_its_mode_and_owner_and_is_written_once(void **state)
{
    struct bundle *b = *state;
    struct stat before, after, again;
    struct st_error err = {0};

    put(b->file, "{\"z\":1}", 0640);
    if (geteuid() == 0)
        assert_int_equal(chown(b->file, 12345, 54321), 0);
    assert_int_equal(stat(b->file, &before), 0);
    assert_int_equal(edit_bundle(b->dir, NULL, &err), 1);
    assert_int_equal(stat(b->file, &after), 0);
    assert_int_equal(after.st_mode, before.st_mode);
    assert_int_equal(after.st_uid, before.st_uid);
    assert_int_equal(after.st_gid, before.st_gid);
    assert_int_not_equal(after.st_ino, before.st_ino);
    assert_int_equal(edit_bundle(b->dir, NULL, &err), 0);
    assert_int_equal(stat(b->file, &again), 0);
    assert_int_equal(again.st_ino, after.st_ino);
    assert_int_equal(count_entries(b->dir), 1);
}

static void a_refused_file_is_left_as_it_was(void **state)
{
    static const char *const cases[] = {"{\"hooks\":[]}", "{\"a\":1", "{\"Hooks\":{}}", ""};
    struct bundle *b = *state;

    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf text = ST_BUF_INIT;
        struct st_error err = {0};

        put(b->file, cases[i], 0600);
        assert_true(edit_bundle(b->dir, NULL, &err) < 0);
        assert_non_null(strstr(err.msg, b->file));
        assert_int_equal(st_read_file(b->file, 4096, &text, &err), 0);
        assert_string_equal(st_buf_cstr(&text), cases[i]);
        assert_int_equal(count_entries(b->dir), 1);
    }
}

static void a_bundle_may_be_a_link_but_config_json_not(void **state)
{
    struct bundle *b = *state;
    st_auto_free char *link = st_xasprintf("%s/link", b->dir), *real = st_xasprintf("%s/real.json", b->dir);
    struct st_error err = {0};

    put(b->file, "{}", 0600);
    assert_int_equal(symlink(b->dir, link), 0);
    assert_int_equal(edit_bundle(link, NULL, &err), 1);
    assert_int_equal(rename(b->file, real), 0);
    assert_int_equal(symlink("real.json", b->file), 0);
    assert_int_equal(edit_bundle(b->dir, NULL, &err), -ELOOP);
    assert_non_null(strstr(err.msg, "is a symbolic link"));
}

static void what_is_no_plain_file_is_refused_at_once(void **state)
{
    struct bundle *b = *state;
    struct st_error err = {0};

    assert_int_equal(edit_bundle(b->dir, NULL, &err), -ENOENT);
    assert_non_null(strstr(err.msg, "JSON specification file config.json not found"));
    assert_int_equal(mkfifo(b->file, 0600), 0);
    assert_int_equal(edit_bundle(b->dir, NULL, &err), -EINVAL);
    assert_non_null(strstr(err.msg, "not a regular file"));
    assert_int_equal(unlink(b->file), 0);
    assert_int_equal(edit_bundle("/nonexistent/bundle", NULL, &err), -ENOENT);
    put(b->file, "", 0600);
    assert_int_equal(edit_bundle(b->file, NULL, &err), -ENOTDIR);
    assert_int_equal(truncate(b->file, (off_t)ST_OCI_CONFIG_MAX + 1), 0);
    assert_int_equal(edit_bundle(b->dir, NULL, &err), -EFBIG);
}

static void a_config_file_of_its_own_is_edited_in_its_place(void **state)
{
    struct bundle *b = *state;
    st_auto_free char *other = st_xasprintf("%s/other.json", b->dir), *back = getcwd(NULL, 0);
    struct st_error err = {0};

    put(other, "{}", 0600);
    assert_int_equal(edit_bundle("/nonexistent", other, &err), 1);
    assert_int_equal(chdir(b->dir), 0);
    assert_int_equal(edit_bundle("/nonexistent", "other.json", &err), 0);
    assert_int_equal(edit_bundle("/nonexistent", "config.json", &err), -ENOENT);
    put(b->file, "{}", 0600);
    assert_int_equal(edit_bundle("", NULL, &err), 1);
    assert_int_equal(edit_bundle(NULL, "config.json", &err), 0);
    assert_int_equal(chdir(back), 0);
}

#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, make_bundle, remove_bundle)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_are_added_last_and_nothing_else_changes),
        cmocka_unit_test(an_older_entry_of_ours_is_replaced),
        cmocka_unit_test(an_entry_in_a_hooks_directory_stage_is_taken_over),
        cmocka_unit_test(hooks_of_ours_can_be_taken_out),
        cmocka_unit_test(what_runtimes_would_read_differently_is_refused),
        cmocka_unit_test(keys_that_only_look_similar_are_let_be),
        FILE_TEST(a_file_keeps_its_mode_and_owner_and_is_written_once),
        FILE_TEST(a_refused_file_is_left_as_it_was),
        FILE_TEST(a_bundle_may_be_a_link_but_config_json_not),
        FILE_TEST(what_is_no_plain_file_is_refused_at_once),
        FILE_TEST(a_config_file_of_its_own_is_edited_in_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
