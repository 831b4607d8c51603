/* sandtrace-runtime between an engine and its runtime: the runtime must find everything as if it had been
 * called directly. A probe in the runtime's place writes down what it was given; once called by us, once by
 * the shim. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include "unit.h"
#include "words.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct place {
    char dir[64];
    char *shim, *probe, *config, *bundle, *out;
};

static char *build_path(const char *name)
{
    const char *dir = getenv("ST_BUILDDIR");

    return st_xasprintf("%s/%s", dir ? dir : ".", name);
}

static void put_file(const char *path, const char *text)
{
    st_auto_fd fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(st_write_all(fd, text, strlen(text)), 0);
}

static int set_up(void **state)
{
    struct place *p = st_xcalloc(1, sizeof(*p));
    st_auto_free char *settings = NULL, *json = NULL, *policy = NULL;

    memcpy(p->dir, "/tmp/sandtrace-shim.XXXXXX", sizeof("/tmp/sandtrace-shim.XXXXXX"));
    if (!mkdtemp(p->dir))
        return -1;
    p->shim = build_path("sandtrace-runtime");
    p->probe = build_path("tests/unit/probe_runtime");
    p->config = st_xasprintf("%s/sandtrace.yaml", p->dir);
    p->bundle = st_xasprintf("%s/bundle", p->dir);
    p->out = st_xasprintf("%s/out", p->dir);
    if (mkdir(p->bundle, 0700) < 0)
        return -1;
    settings = st_xasprintf("hook: %s\npolicy_dirs: [%s]\ndefault_policy: watch\nstate_dir: %s/state\n",
                            p->probe, p->dir, p->dir);
    put_file(p->config, settings);
    policy = st_xasprintf("%s/watch.yaml", p->dir);
    put_file(policy, "schema_version: \"2.0\"\nname: watch\nmode: audit\n");
    json = st_xasprintf("%s/config.json", p->bundle);
    put_file(json, "{\"ociVersion\":\"1.0.2\"}");
    setenv("SANDTRACE_CONFIG", p->config, 1);
    setenv("SANDTRACE_RUNTIME", p->probe, 1);
    setenv("PROBE_OUT", p->out, 1);
    setenv("ASAN_OPTIONS", "disable_coredump=0", 1);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    struct words w;
    pid_t pid;
    int status;

    split_words(&w, "rm -rf");
    w.argv[w.argc++] = p->dir;
    pid = fork();
    if (pid == 0)
        execvp("rm", w.argv);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return -1;
    free(p->shim);
    free(p->probe);
    free(p->config);
    free(p->bundle);
    free(p->out);
    free(p);
    return 0;
}

/* Odd circumstances for the runtime to be started in. */
typedef void (*circumstance)(void);

static void plain(void)
{
}

static void many_fds(void)
{
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC),
        null = open("/dev/null", O_WRONLY | O_APPEND | O_CLOEXEC);

    if (lseek(file, 7, SEEK_SET) != 7 || dup2(file, 30) < 0 || dup2(null, 31) < 0 || dup2(file, 1000) < 0 ||
        dup3(null, 200, O_CLOEXEC) < 0)
        _exit(90);
}

static void no_stdio(void)
{
    close(0);
    close(1);
    close(2);
}

static void odd_signals(void)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1); /* pending across the exec */
}

static void odd_process(void)
{
    struct rlimit files = {512, 512}, core = {0, 0};

    umask(0123);
    if (setpriority(PRIO_PROCESS, 0, 5) < 0 || setrlimit(RLIMIT_NOFILE, &files) < 0 ||
        setrlimit(RLIMIT_CORE, &core) < 0 || setsid() < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
        prctl(PR_SET_TIMERSLACK, 12345) < 0 || chdir("/proc") < 0 || setenv("LISTEN_FDS", "2", 1) < 0 ||
        setenv("NOTIFY_SOCKET", "/n", 1) < 0 || setenv("EMPTY", "", 1) < 0)
        _exit(91);
}

static pid_t start(const char *program, const char *argv0, const char *line, circumstance under)
{
    struct words w;
    pid_t pid;

    split_words(&w, line);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        st_auto_free char *name = st_xstrdup(argv0);

        w.argv[0] = name;
        under();
        execv(program, w.argv);
        _exit(92);
    }
    return pid;
}

static int finish(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* What the probe wrote, without the line of its pid, which is returned. */
static pid_t take_report(const struct place *p, struct st_buf *out)
{
    struct st_error err = {0};
    int pid, used = 0;

    if (st_read_file(p->out, 1 << 20, out, &err) < 0)
        fail_msg("no report of the probe: %s", err.msg);
    assert_int_equal(unlink(p->out), 0);
    assert_int_equal(sscanf(out->data, "pid %d\n%n", &pid, &used), 1);
    memmove(out->data, out->data + used, out->len - (size_t)used + 1);
    out->len -= (size_t)used;
    return pid;
}

/* Fails with the first line that is not the same. */
static void assert_same(const char *line, size_t circumstance_no, const char *direct, const char *through)
{
    while (*direct || *through) {
        size_t a = strcspn(direct, "\n"), b = strcspn(through, "\n");

        if (a != b || memcmp(direct, through, a) != 0)
            fail_msg("%s, circumstance %zu: called directly '%.*s', through the shim '%.*s'", line,
                     circumstance_no, (int)a, direct, (int)b, through);
        direct += a + (direct[a] == '\n');
        through += b + (through[b] == '\n');
    }
}

static void the_runtime_finds_everything_as_if_called_directly(void **state)
{
    static const circumstance circumstances[] = {plain, many_fds, no_stdio, odd_signals, odd_process};
    const struct place *p = *state;
    st_auto_free char *create = st_xasprintf("runc --root /r create --bundle %s ID", p->bundle);
    const char *const lines[] = {
        "runc state ID",       create, "runc --log L kill --all ID 9", "runc exec ID sh -c ''",
        "runc frobnicate --x", "runc"};

    for (size_t c = 0; c < N_OF(circumstances); c++)
        for (size_t i = 0; i < N_OF(lines); i++) {
            st_auto_buf direct = ST_BUF_INIT, through = ST_BUF_INIT;
            pid_t pid = start(p->probe, p->probe, lines[i], circumstances[c]);

            assert_int_equal(finish(pid), 0);
            assert_int_equal(take_report(p, &direct), pid);
            pid = start(p->shim, "sandtrace-runtime", lines[i], circumstances[c]);
            assert_int_equal(finish(pid), 0);
            assert_int_equal(take_report(p, &through), pid);
            assert_same(lines[i], c, st_buf_cstr(&direct), st_buf_cstr(&through));
        }
}

static void the_bundle_was_edited_before_the_runtime_started(void **state)
{
    const struct place *p = *state;
    st_auto_free char *line = st_xasprintf("runc run -b %s ID", p->bundle),
                      *json = st_xasprintf("%s/config.json", p->bundle);
    st_auto_buf report = ST_BUF_INIT, text = ST_BUF_INIT;
    struct st_error err = {0};

    assert_int_equal(finish(start(p->shim, "x", line, plain)), 0);
    take_report(p, &report);
    assert_int_equal(st_read_file(json, 1 << 20, &text, &err), 0);
    assert_non_null(strstr(st_buf_cstr(&text),
                           "\"createRuntime\":[{\"args\":[\"sandtrace-hook\",\"create\",\"--config\","));
    assert_non_null(strstr(st_buf_cstr(&text), "\"env\":[\"PATH=/usr/sbin:/usr/bin:/sbin:/bin\"]"));
    assert_non_null(strstr(st_buf_cstr(&text), "\"timeout\":35}"));
}

static void the_exit_status_is_the_runtimes(void **state)
{
    static const struct {
        const char *then;
        bool exited;
        int code;
    } cases[] = {
        {"exit 0", true, 0},        {"exit 1", true, 1},         {"exit 255", true, 255},
        {"kill 9", false, SIGKILL}, {"kill 15", false, SIGTERM},
    };
    const struct place *p = *state;

    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf report = ST_BUF_INIT;
        int status;

        setenv("PROBE_THEN", cases[i].then, 1);
        status = finish(start(p->shim, "x", "runc state ID", plain));
        take_report(p, &report);
        assert_int_equal(WIFEXITED(status), cases[i].exited);
        assert_int_equal(cases[i].exited ? WEXITSTATUS(status) : WTERMSIG(status), cases[i].code);
    }
    unsetenv("PROBE_THEN");
}

static void a_signal_to_the_engines_child_reaches_the_runtime(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGKILL, SIGUSR2};
    const struct place *p = *state;

    setenv("PROBE_THEN", "wait", 1);
    for (size_t i = 0; i < N_OF(signals); i++) {
        /* A shell has its background jobs ignore some, and that is inherited. */
        void (*before)(int) = signals[i] == SIGKILL ? SIG_DFL : signal(signals[i], SIG_DFL);
        st_auto_buf report = ST_BUF_INIT;
        pid_t pid = start(p->shim, "x", "runc state ID", plain);
        int status;

        while (access(p->out, F_OK) < 0) {
            assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
            poll(NULL, 0, 1);
        }
        assert_int_equal(take_report(p, &report), pid);
        assert_int_equal(kill(pid, signals[i]), 0);
        status = finish(pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        if (signals[i] != SIGKILL)
            signal(signals[i], before);
    }
    unsetenv("PROBE_THEN");
}

static void stdin_is_left_to_the_runtime(void **state)
{
    const struct place *p = *state;
    st_auto_free char *input = st_xasprintf("%s/input", p->dir),
                      *line = st_xasprintf("runc create -b %s ID", p->bundle);
    st_auto_buf report = ST_BUF_INIT;
    st_auto_fd fd = -1, kept = dup(0);

    put_file(input, "0123456789");
    fd = open(input, O_RDWR | O_CLOEXEC);
    assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
    assert_int_equal(dup2(fd, 0), 0);
    assert_int_equal(finish(start(p->shim, "x", line, plain)), 0);
    assert_int_equal(dup2(kept, 0), 0);
    take_report(p, &report);
    assert_non_null(strstr(st_buf_cstr(&report), "fd 0 flags 0 status 100002 offset 4 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtime_finds_everything_as_if_called_directly),
        cmocka_unit_test(the_bundle_was_edited_before_the_runtime_started),
        cmocka_unit_test(the_exit_status_is_the_runtimes),
        cmocka_unit_test(a_signal_to_the_engines_child_reaches_the_runtime),
        cmocka_unit_test(stdin_is_left_to_the_runtime),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
