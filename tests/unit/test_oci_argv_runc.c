/* Differential: what the real runc makes of a command line, against what we do.
 *
 * Bundles whose config.json fails runc's own check in different words tell which one it loaded; no container
 * is ever started. The rule: where runc loads a bundle, we must have edited that bundle or refused; and we
 * may refuse only what is odd. Command lines are made at random from words that matter, by a fixed seed. */
#include "oci/argv.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

#include "unit.h"
#include "words.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct bundle {
    const char *name, *config, *complaint;
} bundles[] = {
    {"cwd", "{}", "process property must not be empty"},
    {"A", "{\"process\":{}}", "Cwd property must not be empty"},
    {"B", "{\"process\":{\"cwd\":\"x\"}}", "Cwd must be an absolute path"},
    {"--no-pivot", "{\"process\":{\"cwd\":\"/\"}}", "args must not be empty"},
};

static char work[] = "/tmp/sandtrace-argv.XXXXXX";

/* Run runc in the first bundle; all that it says, on both streams. */
static void run_runc(char *const argv[], struct st_buf *said)
{
    posix_spawn_file_actions_t actions;
    struct st_error err = {0};
    int pipe_fds[2], status;
    pid_t pid;

    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 2);
    assert_int_equal(posix_spawnp(&pid, "runc", &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_fds[1]);
    assert_int_equal(st_read_fd(pipe_fds[0], 1 << 20, said, &err), 0);
    close(pipe_fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static const struct bundle *loaded_bundle(char *const argv[])
{
    st_auto_buf said = ST_BUF_INIT;

    run_runc(argv, &said);
    for (size_t i = 0; i < N_OF(bundles); i++)
        if (strstr(st_buf_cstr(&said), bundles[i].complaint))
            return &bundles[i];
    return NULL;
}

struct counts {
    int loaded, refused;
};

/* Does our reading agree with what runc did? */
static void compare(const char *line, struct counts *seen)
{
    struct st_oci_args ours;
    const struct bundle *theirs;
    const char *bundle;
    struct words w;

    split_words(&w, line);
    theirs = loaded_bundle(w.argv);
    st_oci_parse_args(w.argc, w.argv, ST_OCI_GO_FLAGS, &ours);
    bundle = ours.bundle && *ours.bundle ? ours.bundle : "cwd";
    if (theirs && ours.todo != ST_OCI_EDIT)
        fail_msg("runc loaded bundle %s, we said %d (%s): %s", theirs->name, ours.todo, ours.doubt, line);
    if (theirs && strcmp(theirs->name, bundle) != 0)
        fail_msg("runc loaded bundle %s, we edited %s: %s", theirs->name, bundle, line);
    seen->loaded += theirs != NULL;
    seen->refused += ours.todo == ST_OCI_REFUSE;
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16 & 0x7fff;
}

static void random_command_lines_are_read_as_runc_reads_them(void **state)
{
    static const char *const globals[] = {
        "--debug", "--debug=false", "--root",           "--root=R", "-root=R",
        "--log",   "--log=L",       "--systemd-cgroup", "--",       "--help=false",
        "-h=0",    "--foo",         "--criu",           "-",        "--log-format=json"};
    static const char *const words[] = {"--bundle",
                                        "-b",
                                        "--bundle=A",
                                        "-b=B",
                                        "-bundle",
                                        "-bundle=A",
                                        "--b",
                                        "A",
                                        "B",
                                        "--no-pivot",
                                        "--no-pivot=0",
                                        "--",
                                        "-",
                                        "ID",
                                        "create",
                                        "run",
                                        "--help",
                                        "--help=false",
                                        "-h",
                                        "--keep",
                                        "--pid-file",
                                        "--pid-file=P",
                                        "-d",
                                        "---bundle=B",
                                        "--foo",
                                        "''",
                                        "--preserve-fds=0",
                                        "--bundle=",
                                        "--no-new-keyring",
                                        "--console-socket"};
    static const char *const commands[] = {"create", "run", "restore", "state", "list", "create", "run"};
    const char *wanted = getenv("ST_ARGV_CASES");
    int cases = wanted ? atoi(wanted) : 250;
    struct counts seen = {0};
    unsigned seed = 20240607;

    (void)state;
    for (int n = 0; n < cases; n++) {
        st_auto_buf line = ST_BUF_INIT;

        st_buf_adds(&line, "runc --root=state"); /* never the machine's own containers */
        for (unsigned more = next_random(&seed) % 6 / 2; more > 0; more--)
            st_buf_addf(&line, " %s", globals[next_random(&seed) % N_OF(globals)]);
        st_buf_addf(&line, " %s", commands[next_random(&seed) % N_OF(commands)]);
        for (unsigned more = next_random(&seed) % 6; more > 0; more--)
            st_buf_addf(&line, " %s", words[next_random(&seed) % N_OF(words)]);
        compare(st_buf_cstr(&line), &seen);
    }
    print_message("# %d command lines: runc loaded a bundle for %d, we refused %d\n", cases, seen.loaded,
                  seen.refused);
    assert_true(seen.loaded > cases / 25);
}

static void plain_command_lines_load_the_bundle_that_we_edit(void **state)
{
    static const struct {
        const char *line, *bundle;
    } cases[] = {
        {"runc --root=state create ID", "cwd"},
        {"runc --root=state create --bundle A ID", "A"},
        {"runc --root=state create --bundle=A ID", "A"},
        {"runc --root=state create -b B ID", "B"},
        {"runc --root=state create -b=B ID", "B"},
        {"runc --root=state run -bundle B ID", "B"},
        {"runc --root=state run ID --bundle A", "A"},
        {"runc --root=state run -b A -b B ID", "B"},
        {"runc --root=state run -b --no-pivot ID", "--no-pivot"},
        {"runc --root=state -- create -- ID", "cwd"},
        {"runc --root=state create create", "cwd"},
        {"runc --help=false --root create run -b A run", "A"},
        {"runc --root=state restore --bundle B ID", "B"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct bundle *theirs;
        struct st_oci_args ours;
        struct words w;

        split_words(&w, cases[i].line);
        theirs = loaded_bundle(w.argv);
        st_oci_parse_args(w.argc, w.argv, ST_OCI_GO_FLAGS, &ours);
        assert_int_equal(ours.todo, ST_OCI_EDIT);
        assert_string_equal(ours.bundle ? ours.bundle : "cwd", cases[i].bundle);
        if (!theirs || strcmp(theirs->name, cases[i].bundle) != 0)
            fail_msg("%s: runc loaded %s", cases[i].line, theirs ? theirs->name : "nothing");
    }
}

static int make_bundles(void **state)
{
    struct st_error err = {0};

    (void)state;
    if (!mkdtemp(work) || chdir(work) < 0)
        return -1;
    for (size_t i = 0; i < N_OF(bundles); i++) {
        st_auto_fd dir = -1;

        if (i > 0 && mkdir(bundles[i].name, 0700) < 0)
            return -1;
        dir = open(i > 0 ? bundles[i].name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (st_replace_file_at(dir, "config.json", bundles[i].config, strlen(bundles[i].config), 0600, false,
                               &err) < 0)
            return -1;
    }
    return 0;
}

static int remove_bundles(void **state)
{
    struct words w;
    int status;
    pid_t pid;

    (void)state;
    split_words(&w, "rm -rf");
    w.argv[w.argc++] = work;
    if (chdir("/") < 0 || posix_spawnp(&pid, "rm", NULL, NULL, w.argv, environ) != 0)
        return -1;
    return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_command_lines_load_the_bundle_that_we_edit),
        cmocka_unit_test(random_command_lines_are_read_as_runc_reads_them),
    };

    return cmocka_run_group_tests(tests, make_bundles, remove_bundles);
}
