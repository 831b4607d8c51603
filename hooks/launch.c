/* launch: see launch.h. */
#include "launch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/spawn.h"
#include "monitor/home.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#define TIDY_MS 2000

/* 0 to 2: /dev/null; then the two that argv names. */
enum { ORDER_FD = 3, ANSWER_FD, N_FDS };

static int spawn_monitor(const char *program, int order, int answer, pid_t *pid)
{
    char name[] = "sandtrace-monitor", order_arg[] = {'0' + ORDER_FD, '\0'},
         answer_arg[] = {'0' + ANSWER_FD, '\0'};
    char *argv[] = {name, order_arg, answer_arg, NULL}, *envp[] = {NULL};
    st_auto_fd null = st_fd_above(open("/dev/null", O_RDWR | O_CLOEXEC), N_FDS);
    st_auto_fd group = st_fd_above(st_home_open_group(), N_FDS);
    const int fds[N_FDS] = {null, null, null, order, answer};

    return st_spawn(&(struct st_spawn){.program = program,
                                       .argv = argv,
                                       .envp = envp,
                                       .fds = fds,
                                       .n_fds = N_FDS,
                                       .cgroup_fd = group,
                                       .say_fd = ANSWER_FD},
                    pid);
}

int st_launch_begin(const char *program, struct st_launch *l, struct st_error *err)
{
    st_auto_fd order_read = -1, answer_write = -1;
    int order[2], answer[2];
    int rc;

    if (pipe2(order, O_CLOEXEC) < 0)
        return st_fail_errno(err, "pipe to the monitor");
    order_read = st_fd_above(order[0], N_FDS);
    l->order_fd = order[1];
    if (pipe2(answer, O_CLOEXEC) < 0)
        return st_fail_errno(err, "pipe to the monitor");
    l->answer_fd = answer[0];
    answer_write = st_fd_above(answer[1], N_FDS);
    if (order_read < 0 || answer_write < 0)
        return st_fail_errno(err, "pipe to the monitor");
    rc = spawn_monitor(program, order_read, answer_write, &l->pid);
    return rc < 0 ? st_fail(err, -rc, "start %s: %s", program, strerror(-rc)) : 0;
}

/* The whole answer: "ok\n", or words that say why not, or nothing where the monitor died. */
static int read_answer(int fd, int64_t timeout_ms, char *out, size_t size)
{
    int64_t deadline = st_now_mono_ns() + timeout_ms * 1000000;
    size_t len = 0;

    for (;;) {
        int64_t left = (deadline - st_now_mono_ns()) / 1000000;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ssize_t n;

        if (left <= 0 || poll(&p, 1, (int)left) == 0)
            return -ETIMEDOUT;
        n = read(fd, out + len, size - 1 - len);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        len += n > 0 ? (size_t)n : 0;
    }
    out[len] = '\0';
    return 0;
}

static int judge_answer(int rc, const char *answer, struct st_error *err)
{
    if (rc == 0 && strcmp(answer, "ok\n") == 0)
        return 0;
    if (rc == -ETIMEDOUT)
        return st_fail(err, ETIMEDOUT, "the monitor was not ready in time (hook_timeout)");
    if (rc < 0)
        return st_fail(err, -rc, "read the monitor's answer: %s", strerror(-rc));
    return st_fail(err, ECHILD, "%s", answer[0] ? answer : "the monitor died before it was ready");
}

int st_launch_order(struct st_launch *l, const struct st_buf *order, int64_t timeout_ms, struct st_error *err)
{
    char answer[4096];
    int rc;

    /* A monitor that is gone already has said why: EPIPE is not the reason. */
    signal(SIGPIPE, SIG_IGN);
    st_write_all(l->order_fd, order->data, order->len);
    st_close(&l->order_fd);
    rc = judge_answer(read_answer(l->answer_fd, timeout_ms, answer, sizeof(answer)), answer, err);
    if (rc == 0)
        l->pid = 0;
    return rc;
}

/* A monitor that refused, or was called off, puts its things away before it ends. */
static void let_it_tidy(pid_t pid)
{
    st_auto_fd fd = pidfd_open(pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};

    while (fd >= 0 && poll(&p, 1, TIDY_MS) < 0 && errno == EINTR)
        continue;
}

void st_launch_end(struct st_launch *l)
{
    st_close(&l->order_fd);
    st_close(&l->answer_fd);
    if (l->pid > 0) {
        let_it_tidy(l->pid);
        kill(l->pid, SIGKILL);
        waitpid(l->pid, NULL, 0);
    }
    l->pid = 0;
}
