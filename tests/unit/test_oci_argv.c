/* The runtime's command line: every spelling, and no way past the editor. */
#include "oci/argv.h"

#include "unit.h"
#include "words.h"

static struct st_oci_args parse(struct words *w, const char *line, enum st_oci_dialect dialect)
{
    struct st_oci_args args;

    split_words(w, line);
    st_oci_parse_args(w->argc, w->argv, dialect, &args);
    return args;
}

static void assert_text(const char *line, const char *what, const char *got, const char *expected)
{
    if (expected ? !got || strcmp(got, expected) != 0 : got != NULL)
        fail_msg("%s: %s is %s, not %s", line, what, got ? got : "absent", expected ? expected : "absent");
}

static void engines_command_lines_are_understood(void **state)
{
    static const struct {
        const char *line;
        enum st_oci_command command;
        enum st_oci_todo todo;
        const char *id, *bundle, *root, *log, *log_format;
    } cases[] = {
        {"runc --root /r --log /l --log-format json create --bundle /b --pid-file /p ID", ST_OCI_CREATE,
         ST_OCI_EDIT, "ID", "/b", "/r", "/l", "json"},
        {"runc --root /r --log /l --log-format json --systemd-cgroup create --bundle /b --pid-file /p "
         "--console-socket /c ID",
         ST_OCI_CREATE, ST_OCI_EDIT, "ID", "/b", "/r", "/l", "json"},
        {"runc --root /r --log /l --log-format json exec --process /f --console-socket /c --detach "
         "--pid-file /p ID",
         ST_OCI_EXEC, ST_OCI_PASS, "ID", NULL, "/r", "/l", "json"},
        {"runc --root /r kill --all ID 9", ST_OCI_KILL, ST_OCI_PASS, "ID", NULL, "/r", NULL, NULL},
        {"runc --root /r delete --force ID", ST_OCI_DELETE, ST_OCI_PASS, "ID", NULL, "/r", NULL, NULL},
        {"runc ps --format json ID", ST_OCI_PS, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc update --resources - ID", ST_OCI_UPDATE, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc update --resources=/f ID", ST_OCI_UPDATE, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc create --bundle /b --pid-file /p ID", ST_OCI_CREATE, ST_OCI_EDIT, "ID", "/b", NULL, NULL,
         NULL},
        {"runc --systemd-cgroup exec --pid-file /p --process /f --detach --tty --preserve-fds 2 ID",
         ST_OCI_EXEC, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc exec ID sh -c create", ST_OCI_EXEC, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc exec -e A=b -t -u 0:0 ID run --bundle /x", ST_OCI_EXEC, ST_OCI_PASS, "ID", NULL, NULL, NULL,
         NULL},
        {"runc events --stats ID", ST_OCI_EVENTS, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc state ID", ST_OCI_STATE, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc pause ID", ST_OCI_PAUSE, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc resume ID", ST_OCI_RESUME, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc start ID", ST_OCI_START, ST_OCI_PASS, "ID", NULL, NULL, NULL, NULL},
        {"runc list -f json -q", ST_OCI_LIST, ST_OCI_PASS, NULL, NULL, NULL, NULL, NULL},
        {"runc spec --bundle /b --rootless", ST_OCI_SPEC, ST_OCI_PASS, NULL, "/b", NULL, NULL, NULL},
        {"runc features", ST_OCI_FEATURES, ST_OCI_PASS, NULL, NULL, NULL, NULL, NULL},
        {"runc checkpoint --image-path /i --leave-running ID", ST_OCI_CHECKPOINT, ST_OCI_PASS, "ID", NULL,
         NULL, NULL, NULL},
        {"runc restore -d --image-path /i --work-path /w -b /b ID", ST_OCI_RESTORE, ST_OCI_EDIT, "ID", "/b",
         NULL, NULL, NULL},
        {"runc run -d --keep --no-pivot -b /b ID", ST_OCI_RUN, ST_OCI_EDIT, "ID", "/b", NULL, NULL, NULL},
        {"runc run ID", ST_OCI_RUN, ST_OCI_EDIT, "ID", NULL, NULL, NULL, NULL},
        {"runc", ST_OCI_NO_COMMAND, ST_OCI_PASS, NULL, NULL, NULL, NULL, NULL},
        {"runc frobnicate x", ST_OCI_UNKNOWN_COMMAND, ST_OCI_PASS, NULL, NULL, NULL, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const char *line = cases[i].line;
        struct words w;
        struct st_oci_args a = parse(&w, line, ST_OCI_GO_FLAGS);

        if (a.command != cases[i].command || a.todo != cases[i].todo)
            fail_msg("%s: command %d, todo %d (%s)", line, a.command, a.todo, a.doubt);
        assert_text(line, "id", a.id, cases[i].id);
        assert_text(line, "bundle", a.bundle, cases[i].bundle);
        assert_text(line, "root", a.root, cases[i].root);
        assert_text(line, "log", a.log, cases[i].log);
        assert_text(line, "log-format", a.log_format, cases[i].log_format);
        assert_true((a.id == NULL) == (a.id_at == 0));
        assert_true(!a.id || a.id == w.argv[a.id_at]);
    }
}

static void every_spelling_of_an_option_is_read(void **state)
{
    static const struct {
        const char *line, *id, *bundle;
    } cases[] = {
        {"runc create --bundle /b ID", "ID", "/b"},
        {"runc create --bundle=/b ID", "ID", "/b"},
        {"runc create -b /b ID", "ID", "/b"},
        {"runc create -b=/b ID", "ID", "/b"},
        {"runc create -bundle /b ID", "ID", "/b"},
        {"runc create -bundle=/b ID", "ID", "/b"},
        {"runc create --b /b ID", "ID", "/b"},
        {"runc create --bundle=/b=c ID", "ID", "/b=c"},
        {"runc create --bundle= ID", "ID", ""},
        {"runc create --bundle '' ID", "ID", ""},
        {"runc create -b /a -b /b ID", "ID", "/b"},
        {"runc create --no-pivot ID", "ID", NULL},
        {"runc create --no-pivot=false ID", "ID", NULL},
        {"runc create -no-pivot=T ID", "ID", NULL},
        {"runc create ID --bundle /b", "ID", "/b"},
        {"runc create ID -b=/b --no-pivot", "ID", "/b"},
        {"runc create -b /b -- ID", "ID", "/b"},
        {"runc create ID -b /b --", "ID", "/b"},
        {"runc create -- -b", "-b", NULL},
        {"runc create -- --help", "--help", NULL},
        {"runc create -b -- ID", "ID", "--"},
        {"runc create -b --no-pivot ID", "ID", "--no-pivot"},
        {"runc create --bundle --help ID", "ID", "--help"},
        {"runc create -- create", "create", NULL},
        {"runc create --foo --", "--foo", NULL},
        {"runc create create", "create", NULL},
        {"runc run run", "run", NULL},
        {"runc create -b create create", "create", "create"},
        {"runc create ''", "", NULL},
        {"runc create -", "-", NULL},
        {"runc -- create ID", "ID", NULL},
        {"runc --debug=false -root=/r -- create -b /b ID", "ID", "/b"},
        {"runc --log create --root=run create -b /b ID", "ID", "/b"},
        {"runc --root --help create ID", "ID", NULL},
        {"runc --help=false create ID", "ID", NULL},
        {"runc --help --help=0 create ID", "ID", NULL},
        {"runc -v=f create ID", "ID", NULL},
        {"runc create --help=false ID", "ID", NULL},
        {"runc create --pidfd-socket /s ID", "ID", NULL},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct words w;
        struct st_oci_args a = parse(&w, cases[i].line, ST_OCI_GO_FLAGS);

        if (a.todo != ST_OCI_EDIT)
            fail_msg("%s: todo %d (%s)", cases[i].line, a.todo, a.doubt);
        assert_text(cases[i].line, "id", a.id, cases[i].id);
        assert_text(cases[i].line, "bundle", a.bundle, cases[i].bundle);
    }
}

static void what_starts_no_container_is_passed_on(void **state)
{
    static const char *const cases[] = {
        "runc --help",         "runc -h create ID",       "runc --version create ID", "runc -v",
        "runc create",         "runc create --help",      "runc create -h ID",        "runc create ID --help",
        "runc create --foo",   "runc create A B",         "runc run A B C",           "runc create --bundle",
        "runc --foo state ID", "runc help create",        "runc kill --foo create",   "runc delete create",
        "runc --log create",   "runc create --help=t ID", "runc state --foo=run ID",  "runc exec create run",
        "runc '' ID",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct words w;
        struct st_oci_args a = parse(&w, cases[i], ST_OCI_GO_FLAGS);

        if (a.todo != ST_OCI_PASS)
            fail_msg("%s: todo %d (%s)", cases[i], a.todo, a.doubt);
    }
}

static void a_start_that_we_can_not_be_sure_of_is_refused(void **state)
{
    static const struct {
        const char *line, *why;
        enum st_oci_dialect dialect;
    } cases[] = {
        {"runc --foo create ID", "unknown option `--foo`", ST_OCI_GO_FLAGS},
        {"runc --foo x create ID", "unknown option `--foo`", ST_OCI_GO_FLAGS},
        {"runc --foo=x run ID", "unknown option `--foo=x`", ST_OCI_GO_FLAGS},
        {"runc -=x restore ID", "badly written option `-=x`", ST_OCI_GO_FLAGS},
        {"runc ---root=x create ID", "badly written option `---root=x`", ST_OCI_GO_FLAGS},
        {"runc --debug=maybe create ID", "no truth value in option `--debug=maybe`", ST_OCI_GO_FLAGS},
        {"runc create --foo ID", "unknown option `--foo`", ST_OCI_GO_FLAGS},
        {"runc create --foo -- -id", "more than a container ID", ST_OCI_GO_FLAGS},
        {"runc create --bund /b ID", "unknown option `--bund`", ST_OCI_GO_FLAGS},
        {"runc create -b/b ID", "unknown option `-b/b`", ST_OCI_GO_FLAGS},
        {"runc create ---bundle=/b ID", "badly written option `---bundle=/b`", ST_OCI_GO_FLAGS},
        {"runc create --no-pivot ID --bundle /b", "more than a container ID", ST_OCI_GO_FLAGS},
        {"runc create ID --foo /b", "more than a container ID", ST_OCI_GO_FLAGS},
        {"runc create --bundle ID", "no container ID", ST_OCI_GO_FLAGS},
        {"runc create ID --bundle", "no container ID", ST_OCI_GO_FLAGS},
        {"crun create -b=/b ID", "short options in one word `-b=/b`", ST_OCI_GETOPT},
        {"crun create -bundle ID", "short options in one word `-bundle`", ST_OCI_GETOPT},
        {"crun run -db /b ID", "short options in one word `-db`", ST_OCI_GETOPT},
        {"crun create ID --bundle /b", "more than a container ID", ST_OCI_GETOPT},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct words w;
        struct st_oci_args a = parse(&w, cases[i].line, cases[i].dialect);

        if (a.todo != ST_OCI_REFUSE || !strstr(a.doubt, cases[i].why))
            fail_msg("%s: todo %d (%s), not (%s)", cases[i].line, a.todo, a.doubt, cases[i].why);
    }
}

static void crun_is_read_as_crun_reads(void **state)
{
    struct words w;
    struct st_oci_args a =
        parse(&w, "crun --cgroup-manager=cgroupfs create -f /c.json --bundle=/b ID", ST_OCI_GETOPT);

    (void)state;
    assert_int_equal(a.todo, ST_OCI_EDIT);
    assert_string_equal(a.config, "/c.json");
    assert_string_equal(a.bundle, "/b");
    assert_int_equal(st_oci_dialect_of("/usr/bin/crun"), ST_OCI_GETOPT);
    assert_int_equal(st_oci_dialect_of("krun"), ST_OCI_GETOPT);
    assert_int_equal(st_oci_dialect_of("/usr/sbin/runc"), ST_OCI_GO_FLAGS);
    assert_int_equal(st_oci_dialect_of("/opt/crun/runc"), ST_OCI_GO_FLAGS);
}

static void an_empty_command_line_is_passed_on(void **state)
{
    char *const none[] = {NULL};
    struct st_oci_args a;

    (void)state;
    st_oci_parse_args(0, none, ST_OCI_GO_FLAGS, &a);
    assert_int_equal(a.todo, ST_OCI_PASS);
    assert_int_equal(a.command, ST_OCI_NO_COMMAND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_command_lines_are_understood),
        cmocka_unit_test(every_spelling_of_an_option_is_read),
        cmocka_unit_test(what_starts_no_container_is_passed_on),
        cmocka_unit_test(a_start_that_we_can_not_be_sure_of_is_refused),
        cmocka_unit_test(crun_is_read_as_crun_reads),
        cmocka_unit_test(an_empty_command_line_is_passed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
