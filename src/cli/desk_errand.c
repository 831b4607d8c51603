/* desk_errand: see desk_errand.h. */
#include "cli/desk_errand.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "desk/folder.h"
#include "desk/review.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define VERIFY "verify "
#define TELL "tell "
#define TEXT_MAX_BYTES 300
#define ANSWER_MAX ((size_t)1 << 20)
#define PATIENCE_MS 120000

/* One text, one fd. */
union room {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_errand(int fd, const char *word, const char *what, int pipe_fd, struct st_error *err)
{
    st_auto_free char *text = st_xasprintf("%s%s", word, what);
    union room room = {0};
    struct iovec iov = {.iov_base = text, .iov_len = strlen(text)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof(room.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &pipe_fd, sizeof(int));
    return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? st_fail_errno(err, "ask for a program") : 0;
}

int st_errand_verify(int fd, const char *name, struct st_buf *answer, struct st_error *err)
{
    int ends[2];
    st_auto_fd in = -1, out = -1;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return st_fail_errno(err, "pipe");
    in = ends[0];
    out = ends[1];
    if (send_errand(fd, VERIFY, name, out, err) < 0)
        return -err->errnum;
    st_close(&out);
    for (;;) {
        struct pollfd p = {.fd = in, .events = POLLIN};
        char bytes[8192];
        ssize_t n;

        if (poll(&p, 1, PATIENCE_MS) == 0)
            return st_fail(err, ETIMEDOUT,
                           "%s: verifying takes longer than %d s; sandtrace verify has no limit", name,
                           PATIENCE_MS / 1000);
        n = read(in, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        st_buf_add(answer, bytes, (size_t)n);
        if (answer->len > ANSWER_MAX)
            return st_fail(err, EMSGSIZE, "%s: too much is said of it", name);
    }
    if (!answer->len)
        return st_fail(err, EIO, "%s: can't be read; sandtrace verify says why", name);
    return 0;
}

int st_errand_tell(int fd, const char *review, struct st_error *err)
{
    st_auto_fd null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    return null < 0 ? st_fail_errno(err, "/dev/null") : send_errand(fd, TELL, review, null, err);
}

/* ---- the watcher ---- */

const char **st_errand_env(void)
{
    const char **out = st_xcalloc(2, sizeof(*out));
    size_t n = 0;

    out[n++] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "SANDTRACE_", 10) != 0)
            continue;
        out = st_xrealloc(out, (n + 2) * sizeof(*out));
        out[n++] = *e;
    }
    out[n] = NULL;
    return out;
}

static int receive(int fd, char text[TEXT_MAX_BYTES])
{
    union room room = {0};
    struct iovec iov = {.iov_base = text, .iov_len = TEXT_MAX_BYTES - 1};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof(room.bytes)};
    ssize_t n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    int out = -1;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&out, CMSG_DATA(c), sizeof(int));
    text[n > 0 ? n : 0] = '\0';
    return out;
}

/* ID.jsonl, in the folder of traces and nowhere else. */
static bool is_trace(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && st_trace_name_len(name) == strlen(name);
}

static void start(const struct st_errands *e, const char *const *argv, int *pipe_fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), fds[3];
    pid_t pid;

    fds[0] = st_fd_above(null, 3);
    fds[1] = *pipe_fd = st_fd_above(*pipe_fd, 3);
    fds[2] = st_fd_above(fcntl(fds[0], F_DUPFD_CLOEXEC, 3), 3);
    pid = st_spawn_fork(-1);
    if (pid == 0) {
        const struct st_spawn s = {.program = e->sandtrace,
                                   .argv = argv,
                                   .envp = e->envp,
                                   .fds = fds,
                                   .n_fds = 3,
                                   .cgroup_fd = -1,
                                   .say_fd = -1};
        sigset_t none;

        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != e->parent)
            _exit(0);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        st_spawn_become(&s);
    }
    st_close(&fds[0]);
    st_close(&fds[2]);
}

static void verify(const struct st_errands *e, const char *name, int *pipe_fd)
{
    st_auto_free char *path = st_xasprintf("%s/%s", e->log_dir, name);
    const char *argv[] = {"sandtrace", "verify", "--json", "--live", path, e->config ? "--config" : NULL,
                          e->config,   NULL};

    start(e, argv, pipe_fd);
}

static void tell(const struct st_errands *e, const char *review, int *pipe_fd)
{
    /* Who asks is the process that hostile bytes reach: what it names is never an option. */
    const char *plain[] = {"sandtrace", "review", "--", "tell", review, NULL};
    const char *by_config[] = {"sandtrace", "review", "--config", e->config, "--", "tell", review, NULL};

    start(e, e->config ? by_config : plain, pipe_fd);
}

void st_errand_serve(const struct st_errands *e)
{
    char text[TEXT_MAX_BYTES];
    st_auto_fd out = receive(e->fd, text);
    const char *what = strchr(text, ' ');

    if (out < 0 || !what++)
        return;
    if (strncmp(text, VERIFY, strlen(VERIFY)) == 0 && is_trace(what))
        verify(e, what, &out);
    else if (strncmp(text, TELL, strlen(TELL)) == 0 && st_review_id_ok(what))
        tell(e, what, &out);
}
