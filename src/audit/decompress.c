/* decompress: see decompress.h. A feeder hands the bytes to the tool, so that a pipe whose beginning was
 * looked at is no different from a file. */
#include "audit/decompress.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const struct tool {
    unsigned char magic[ST_MAGIC_SIZE];
    size_t magic_len;
    const char *name;
    const char *paths[2];
} tools[] = {
    {{0x1f, 0x8b}, 2, "gzip", {"/usr/bin/gzip", "/bin/gzip"}},
    {{0x28, 0xb5, 0x2f, 0xfd}, 4, "zstd", {"/usr/bin/zstd", "/bin/zstd"}},
};

struct st_decompress {
    const struct tool *tool;
    int out;
    pid_t feeder, child;
};

static const struct tool *tool_for(const unsigned char *head, size_t n)
{
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        if (n >= tools[i].magic_len && memcmp(head, tools[i].magic, tools[i].magic_len) == 0)
            return &tools[i];
    return NULL;
}

bool st_is_compressed(const unsigned char *head, size_t n)
{
    return tool_for(head, n) != NULL;
}

/* Runs in a process of its own. */
static void feed(int from, int to, const unsigned char *head, size_t n)
{
    char block[65536];
    ssize_t got = 0;
    int rc = st_write_all(to, head, n);

    signal(SIGPIPE, SIG_IGN);
    while (rc == 0 && ((got = read(from, block, sizeof(block))) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0)
            rc = st_write_all(to, block, (size_t)got);
    _exit(rc < 0 || got < 0);
}

static pid_t start_feeder(int fd, const unsigned char *head, size_t n, const int in[2], const int out[2])
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    close(in[0]);
    close(out[0]);
    close(out[1]);
    feed(fd, in[1], head, n);
    return 0;
}

static int start_tool(const struct tool *tool, int in, int out, pid_t *pid, struct st_error *err)
{
    const char *program = access(tool->paths[0], X_OK) == 0 ? tool->paths[0] : tool->paths[1];
    char name[8];
    const char *argv[] = {name, "-dcq", NULL}, *envp[] = {"LC_ALL=C", NULL};
    st_auto_fd null = st_fd_above(open("/dev/null", O_WRONLY | O_CLOEXEC), 3);
    int fds[] = {in, out, null};
    struct st_spawn s = {.program = program,
                         .argv = argv,
                         .envp = envp,
                         .fds = fds,
                         .n_fds = 3,
                         .cgroup_fd = -1,
                         .say_fd = -1};
    int rc;

    if (access(program, X_OK) < 0)
        return st_fail(err, ENOENT, "compressed, and %s is missing: install the Debian package %s",
                       tool->name, tool->name);
    snprintf(name, sizeof(name), "%s", tool->name);
    rc = st_spawn(&s, pid);
    return rc < 0 ? st_fail(err, -rc, "start %s: %s", tool->name, strerror(-rc)) : 0;
}

int st_decompress_start(int fd, const unsigned char *head, size_t n, struct st_decompress **out,
                        struct st_error *err)
{
    struct st_decompress *d = st_xcalloc(1, sizeof(*d));
    int in_pipe[2] = {-1, -1}, out_pipe[2] = {-1, -1}, rc = 0;

    d->tool = tool_for(head, n);
    d->out = -1;
    if (pipe2(in_pipe, O_CLOEXEC) < 0 || pipe2(out_pipe, O_CLOEXEC) < 0)
        rc = st_fail_errno(err, "make a pipe");
    if (rc == 0) {
        in_pipe[0] = st_fd_above(in_pipe[0], 3);
        out_pipe[1] = st_fd_above(out_pipe[1], 3);
        rc = start_tool(d->tool, in_pipe[0], out_pipe[1], &d->child, err);
    }
    if (rc == 0) {
        d->feeder = start_feeder(fd, head, n, in_pipe, out_pipe);
        if (d->feeder < 0)
            rc = st_fail_errno(err, "fork");
    }
    st_close(&in_pipe[0]);
    st_close(&in_pipe[1]);
    st_close(&out_pipe[1]);
    d->out = out_pipe[0];
    if (rc < 0) {
        st_decompress_freep(&d);
        return rc;
    }
    *out = d;
    return 0;
}

static bool ended_well(pid_t *pid)
{
    int status = 0;
    pid_t got;

    if (*pid <= 0)
        return true;
    do
        got = waitpid(*pid, &status, 0);
    while (got < 0 && errno == EINTR);
    *pid = 0;
    return got >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

ssize_t st_decompress_read(struct st_decompress *d, void *out, size_t n, struct st_error *err)
{
    ssize_t got;

    do
        got = read(d->out, out, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return st_fail_errno(err, "read from %s", d->tool->name);
    if (got == 0 && !ended_well(&d->child))
        return st_fail(err, EBADMSG, "%s could not unpack it to its end: damaged or cut", d->tool->name);
    return got;
}

void st_decompress_freep(struct st_decompress **at)
{
    struct st_decompress *d = *at;

    if (!d)
        return;
    st_close(&d->out); /* the tool ends by SIGPIPE, if not at its own end */
    if (d->feeder > 0)
        kill(d->feeder, SIGKILL); /* it may wait for a pipe that never ends */
    ended_well(&d->feeder);
    ended_well(&d->child);
    free(d);
    *at = NULL;
}
