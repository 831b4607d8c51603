/* run_runtime: see run_runtime.h. */
#include "cli/run_runtime.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/spawn.h"
#include "cli/beside.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#define SAID_MAX 65536
#define WORDS_MAX 16

/* ---- where it is, and what it is told by the environment ---- */

/* Ours are handed on; the rest of the caller's is nobody's business there. */
static char **choose_env(const struct st_cli *cli)
{
    size_t n = 0;
    char **out = NULL;

    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "PATH=", 5) != 0 && (strncmp(*e, "SANDTRACE_", 10) != 0 ||
                                             (cli->config && strncmp(*e, "SANDTRACE_CONFIG=", 17) == 0)))
            continue;
        out = st_xrealloc(out, (n + 3) * sizeof(*out));
        out[n++] = st_xstrdup(*e);
    }
    if (!out)
        out = st_xcalloc(2, sizeof(*out));
    if (cli->config)
        out[n++] = st_xasprintf("SANDTRACE_CONFIG=%s", cli->config);
    out[n] = NULL;
    return out;
}

int st_run_runtime_find(const struct st_run_place *place, const struct st_cli *cli,
                        struct st_run_runtime *out, struct st_error *err)
{
    *out = (struct st_run_runtime){.id = place->id, .program = st_beside("sandtrace-runtime")};
    if (!out->program)
        return st_fail_errno(err, "/proc/self/exe");
    if (access(out->program, X_OK) < 0)
        return st_fail_errno(err, "%s", out->program);
    out->root = st_xasprintf("%s/runtime", place->fs);
    out->bundle = st_xasprintf("%s/bundle", place->fs);
    out->pid_file = st_xasprintf("%s/pid", place->fs);
    out->console = st_xasprintf("%s/console", place->fs);
    out->env = choose_env(cli);
    if (mkdir(out->root, 0700) < 0 || mkdir(out->bundle, 0700) < 0)
        return st_fail_errno(err, "make %s", out->root);
    return 0;
}

void st_run_runtime_free(struct st_run_runtime *r)
{
    for (char **e = r->env; e && *e; e++)
        free(*e);
    free(r->env);
    free(r->program);
    free(r->root);
    free(r->bundle);
    free(r->pid_file);
    free(r->console);
    *r = (struct st_run_runtime){0};
}

/* ---- a call ---- */

void st_run_reason(const char *said, size_t len, struct st_buf *out)
{
    static const char *const ours[] = {
        "sandtrace-runtime: ", "sandtrace-hook: ", "sandtrace-knock: ", "sandtrace: "};
    const char *best = NULL;
    size_t skip = 0;

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        const char *found = memmem(said, len, ours[i], strlen(ours[i]));

        if (found && (!best || found < best)) {
            best = found;
            skip = strlen(ours[i]);
        }
    }
    if (best) {
        len -= (size_t)(best - said) + skip;
        said = best + skip;
    }
    /* A runtime quotes what a hook has said. */
    while (len && (strchr("\n \"", said[len - 1]) || (len > 1 && memcmp(said + len - 2, "\\n", 2) == 0)))
        len -= said[len - 1] == 'n' ? 2 : 1;
    if (len > 1500)
        len = 1500;
    while (len) {
        const char *newline = memchr(said, '\n', len);
        size_t n = newline ? (size_t)(newline - said) : len;

        st_add_printable(out, said, n);
        st_buf_adds(out, newline ? "; " : "");
        said += n + (newline != NULL);
        len -= n + (newline != NULL);
    }
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whatever is there by now. */
static void read_said(int fd, struct st_buf *out)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char bytes[4096];
    ssize_t n;

    while (out->len < SAID_MAX && poll(&p, 1, 0) > 0 && (n = read(fd, bytes, sizeof(bytes))) > 0)
        st_buf_add(out, bytes, (size_t)n);
}

static int spawn(const struct st_run_runtime *r, const char *const *words, const int given[3], pid_t *pid,
                 struct st_error *err)
{
    const char *argv[WORDS_MAX] = {"sandtrace-runtime", "--root", r->root};
    int fds[3], n = 3;
    struct st_spawn s = {.program = r->program,
                         .argv = argv,
                         .envp = (const char *const *)r->env,
                         .fds = fds,
                         .n_fds = 3,
                         .cgroup_fd = -1,
                         .say_fd = 2};

    for (int i = 0; words[i] && n < WORDS_MAX - 1; i++)
        argv[n++] = words[i];
    for (int i = 0; i < 3; i++)
        fds[i] = fcntl(given[i], F_DUPFD_CLOEXEC, 3);
    *pid = st_spawn_fork(-1);
    if (*pid == 0) {
        setsid(); /* Ctrl-C is for the command, not for who makes its container */
        st_spawn_become(&s);
    }
    for (int i = 0; i < 3; i++)
        st_close(&fds[i]);
    return *pid < 0 ? st_fail_errno(err, "start %s", r->program) : 0;
}

static int failed(int code, int said_fd, const char *what, struct st_error *err)
{
    st_auto_buf said = ST_BUF_INIT, reason = ST_BUF_INIT;

    read_said(said_fd, &said);
    st_run_reason(st_buf_cstr(&said), said.len, &reason);
    return st_fail(err, EREMOTEIO, "%s: %s%s", what, st_buf_cstr(&reason),
                   reason.len    ? ""
                   : code == 127 ? "sandtrace-runtime can't be started"
                                 : "the runtime failed without a word");
}

/* A call whose words are only of interest where it fails. */
static int call(const struct st_run_runtime *r, const char *const *words, const char *what,
                struct st_error *err)
{
    st_auto_fd nothing = open("/dev/null", O_RDWR | O_CLOEXEC), said = memfd_create("said", MFD_CLOEXEC);
    pid_t pid = 0;
    int code;

    if (nothing < 0 || said < 0)
        return st_fail_errno(err, "%s", what);
    if (spawn(r, words, (const int[]){nothing, nothing, said}, &pid, err) < 0)
        return st_wrap(err, "%s", what);
    code = wait_for(pid);
    if (code == 0)
        return 0;
    lseek(said, 0, SEEK_SET);
    return failed(code, said, what, err);
}

/* ---- the terminal ---- */

static int listen_for_console(const struct st_run_runtime *r, struct st_error *err)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (strlen(r->console) >= sizeof(addr.sun_path))
        return st_fail(err, ENAMETOOLONG, "%s: too long for a socket; choose a shorter state_dir",
                       r->console);
    memcpy(addr.sun_path, r->console, strlen(r->console) + 1);
    if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 1) < 0)
        return st_fail_errno(err, "a socket for the terminal");
    return st_steal_fd(&fd);
}

/* The runtime has ended well: what it sent is there. */
static int take_console(int listener, struct st_error *err)
{
    st_auto_fd fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    char byte[64];
    struct iovec iov = {byte, sizeof(byte)};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    const struct cmsghdr *c;
    int master = -1;

    if (fd < 0 || recvmsg(fd, &msg, MSG_CMSG_CLOEXEC) < 0)
        return st_fail_errno(err, "the container's terminal");
    c = CMSG_FIRSTHDR(&msg);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&master, CMSG_DATA(c), sizeof(int));
    return master >= 0 ? master : st_fail(err, EPROTO, "the runtime sent no terminal");
}

/* ---- what there is to say ---- */

static int read_pid(const struct st_run_runtime *r, pid_t *out, struct st_error *err)
{
    char text[32];
    ssize_t n = st_read_small_at(AT_FDCWD, r->pid_file, text, sizeof(text));
    long pid = n > 0 ? strtol(text, NULL, 10) : 0;

    if (pid <= 1)
        return st_fail(err, EPROTO, "the runtime has not said which process is the container's first");
    *out = (pid_t)pid;
    return 0;
}

int st_run_create(const struct st_run_runtime *r, const int fds[3], bool terminal, int said_fd, int *master,
                  pid_t *pid, struct st_error *err)
{
    static const char what[] = "the container could not be made";
    const char *words[] = {"create",
                           "--bundle",
                           r->bundle,
                           "--pid-file",
                           r->pid_file,
                           terminal ? "--console-socket" : r->id,
                           terminal ? r->console : NULL,
                           terminal ? r->id : NULL,
                           NULL};
    st_auto_fd listener = terminal ? listen_for_console(r, err) : -1;
    pid_t runtime = 0;
    int code;

    if (terminal && listener < 0)
        return -err->errnum;
    if (spawn(r, words, fds, &runtime, err) < 0)
        return st_wrap(err, "%s", what);
    code = wait_for(runtime);
    if (code != 0)
        return failed(code, said_fd, what, err);
    if (terminal && (*master = take_console(listener, err)) < 0)
        return -err->errnum;
    return read_pid(r, pid, err);
}

int st_run_start(const struct st_run_runtime *r, struct st_error *err)
{
    return call(r, (const char *const[]){"start", r->id, NULL}, "the container could not be started", err);
}

int st_run_kill(const struct st_run_runtime *r, struct st_error *err)
{
    return call(r, (const char *const[]){"kill", r->id, "KILL", NULL}, "the container could not be killed",
                err);
}

int st_run_delete(const struct st_run_runtime *r, struct st_error *err)
{
    return call(r, (const char *const[]){"delete", "--force", r->id, NULL},
                "the container could not be removed", err);
}
