/* launch: see launch.h. */
#include "monitor/launch.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/spawn.h"
#include "monitor/answer.h"
#include "monitor/home.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#define TIDY_MS 2000

/* 0 to 2: /dev/null; then those that argv names. */
enum { ORDER_FD = 3, ANSWER_FD, RUNTIME_FD, LISTENER_FD = ST_LAUNCH_LISTENER_FD, N_FDS };

/* runtime: -1, or the fd that makes the third argument: then `answer` is a socket to wait on. listener: -1,
 * or what the order names. */
static int spawn_monitor(const char *program, int order, int answer, int runtime, int listener, pid_t *pid)
{
    const char order_arg[] = {'0' + ORDER_FD, '\0'}, answer_arg[] = {'0' + ANSWER_FD, '\0'},
               runtime_arg[] = {'0' + RUNTIME_FD, '\0'};
    const char *argv[] = {"sandtrace-monitor", order_arg, answer_arg, runtime < 0 ? NULL : runtime_arg, NULL};
    const char *envp[] = {NULL};
    st_auto_fd null = st_fd_above(open("/dev/null", O_RDWR | O_CLOEXEC), N_FDS);
    st_auto_fd group = st_fd_above(st_home_open_group(), N_FDS);
    const int fds[N_FDS] = {null, null, null, order, answer, runtime < 0 ? null : runtime, listener};

    return st_spawn(&(struct st_spawn){.program = program,
                                       .argv = argv,
                                       .envp = envp,
                                       .fds = fds,
                                       .n_fds = listener < 0 ? LISTENER_FD : N_FDS,
                                       .cgroup_fd = group,
                                       .say_fd = runtime < 0 ? ANSWER_FD : -1},
                    pid);
}

/* A copy that is in no way. */
static int copy_above(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, N_FDS);
}

int st_launch_begin(const char *program, int listener_fd, struct st_launch *l, struct st_error *err)
{
    st_auto_fd order_read = -1, answer_write = -1, listener = copy_above(listener_fd);
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
    rc = spawn_monitor(program, order_read, answer_write, -1, listener, &l->pid);
    return rc < 0 ? st_fail(err, -rc, "start %s: %s", program, strerror(-rc)) : 0;
}

int st_launch_standby(const char *program, int socket_fd, int runtime_fd, int listener_fd,
                      struct st_launch *l, struct st_error *err)
{
    st_auto_fd order_read = -1, hook = copy_above(socket_fd), runtime = copy_above(runtime_fd);
    st_auto_fd listener = copy_above(listener_fd);
    int order[2], rc;

    if (pipe2(order, O_CLOEXEC) < 0)
        return st_fail_errno(err, "pipe to the monitor");
    order_read = st_fd_above(order[0], N_FDS);
    l->order_fd = order[1];
    if (order_read < 0 || hook < 0 || runtime < 0)
        return st_fail_errno(err, "pipe to the monitor");
    rc = spawn_monitor(program, order_read, hook, runtime, listener, &l->pid);
    return rc < 0 ? st_fail(err, -rc, "start %s: %s", program, strerror(-rc)) : 0;
}

void st_launch_leave(struct st_launch *l, const struct st_buf *order)
{
    signal(SIGPIPE, SIG_IGN);
    st_write_all(l->order_fd, order->data, order->len);
    st_close(&l->order_fd);
    l->pid = 0;
}

int st_launch_order(struct st_launch *l, const struct st_buf *order, int64_t timeout_ms, struct st_error *err)
{
    int rc;

    /* A monitor that is gone already has said why: EPIPE is not the reason. */
    signal(SIGPIPE, SIG_IGN);
    st_write_all(l->order_fd, order->data, order->len);
    st_close(&l->order_fd);
    rc = st_answer_read(l->answer_fd, timeout_ms, err);
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
