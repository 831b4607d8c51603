/* about: see about.h. The only place where the runtime is a child and not what we become. */
#include "shim/about.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json_edit.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#define MAX_ANSWER ((size_t)1 << 20)

static void say(const char *text, size_t len)
{
    (void)st_write_all(STDOUT_FILENO, text, len);
}

/* Start the runtime; its stdout goes to out_fd where that is not negative. */
static pid_t start(const char *runtime, char *const argv[], int out_fd, struct st_error *err)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    int rc;

    signal(SIGCHLD, SIG_DFL); /* where it is ignored there would be nothing to wait for */
    posix_spawn_file_actions_init(&actions);
    if (out_fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    rc = posix_spawn(&pid, runtime, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0) {
        errno = rc;
        return st_fail_errno(err, "runtime %s", runtime);
    }
    return pid;
}

static int finish(pid_t pid, struct st_error *err)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return st_fail_errno(err, "wait for the runtime");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The runtime's whole answer, then ours. */
static int answer_then(const char *runtime, char *const argv[], const struct st_buf *ours,
                       struct st_error *err)
{
    pid_t pid = start(runtime, argv, -1, err);
    int status = pid < 0 ? pid : finish(pid, err);

    if (status >= 0)
        say(ours->data, ours->len);
    return status;
}

int st_shim_version(const char *runtime, char *const argv[], struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;

    st_buf_addf(&text, "sandtrace-runtime: " PACKAGE_VERSION "\n");
    return answer_then(runtime, argv, &text, err);
}

/* Our version as one more annotation; where the answer is not what it should be, it stays as it is. */
static void add_ourselves(const struct st_buf *answer, struct st_buf *out)
{
    static const char *const path[] = {"annotations", "io.sandtrace.version", NULL};
    st_auto_json doc = NULL;
    st_auto_json_edit edit = NULL;

    if (st_json_parse(st_buf_cstr(answer), answer->len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) == 0) {
        edit = st_json_edit_new(doc, answer->data, answer->len);
        if (st_json_edit_set(edit, path, "\"" PACKAGE_VERSION "\"", NULL) == 0 &&
            st_json_edit_apply(edit, out, NULL) == 0)
            return;
    }
    st_buf_clear(out);
    st_buf_add(out, st_buf_cstr(answer), answer->len);
}

int st_shim_features(const char *runtime, char *const argv[], struct st_error *err)
{
    st_auto_buf answer = ST_BUF_INIT, out = ST_BUF_INIT;
    st_auto_fd read_end = -1, write_end = -1;
    int fds[2], status, rc;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return st_fail_errno(err, "pipe");
    read_end = fds[0];
    write_end = fds[1];
    pid = start(runtime, argv, write_end, err);
    if (pid < 0)
        return pid;
    st_close(&write_end);
    rc = st_read_fd(read_end, MAX_ANSWER, &answer, err);
    st_close(&read_end);
    status = finish(pid, err);
    if (rc < 0)
        return st_wrap(err, "answer of the runtime");
    add_ourselves(&answer, &out);
    say(st_buf_cstr(&out), out.len);
    return status;
}

int st_shim_help(const char *runtime, char *const argv[], struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;

    st_buf_addf(&text,
                "\nSANDTRACE:\n"
                "   sandtrace-runtime " PACKAGE_VERSION
                " takes the options and commands of %s, which it becomes; create,\n"
                "   run and restore first put sandtrace's hooks into the bundle. See sandtrace-runtime(8).\n",
                runtime);
    return answer_then(runtime, argv, &text, err);
}
