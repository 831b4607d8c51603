/* ahead: see ahead.h. */
#include "shim/ahead.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "monitor/home.h"
#include "sensors/notify_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0 to 2: /dev/null; then those that `await` knows by number, which are handed over. */
enum { STANDBY_FD = 3, RUNTIME_FD, LISTENER_FD, N_FDS };
#define N_HANDED (N_FDS - STANDBY_FD)

#define ORDERS_MAX (8u << 20)
#define WORDS_MAX 64

union handed {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(N_HANDED * sizeof(int))];
};

/* ---- who waits ---- */

/* Behind one another, each with its NUL; a list ends with an empty one. */
static const char *take_words(const char *at, const char *end, const char *out[WORDS_MAX])
{
    size_t n = 0;

    while (at && at < end && *at && n < WORDS_MAX - 1) {
        const char *nul = memchr(at, '\0', (size_t)(end - at));

        out[n++] = at;
        at = nul ? nul + 1 : NULL;
    }
    out[n] = NULL;
    return at && at < end && !*at ? at + 1 : NULL;
}

/* How many fds came; the first bytes of the orders come with them. */
static int receive(int socket_fd, int fds[N_HANDED], struct st_buf *orders)
{
    union handed control = {0};
    char first[4096];
    struct iovec to = {.iov_base = first, .iov_len = sizeof(first)};
    struct msghdr m = {
        .msg_iov = &to, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t n;
    int handed = 0;

    do
        n = recvmsg(socket_fd, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0 || m.msg_controllen < CMSG_LEN(sizeof(int)) || control.head.cmsg_type != SCM_RIGHTS)
        return 0;
    handed = (int)((control.head.cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(fds, CMSG_DATA(&control.head), (size_t)handed * sizeof(int));
    st_buf_add(orders, first, (size_t)n);
    return st_read_fd(socket_fd, ORDERS_MAX, orders, NULL) < 0 ? 0 : handed;
}

/* Whoever told us is not told back: the hook will find nobody. */
static _Noreturn void await_orders(int socket_fd)
{
    const char *program[WORDS_MAX], *args[WORDS_MAX], *env[WORDS_MAX], *at;
    struct st_buf orders = ST_BUF_INIT;
    int null = st_fd_above(open("/dev/null", O_RDWR | O_CLOEXEC), N_FDS), handed[N_HANDED], fds[N_FDS];
    int n = receive(socket_fd, handed, &orders);
    const char *end = orders.data + orders.len;

    fds[0] = fds[1] = fds[2] = null;
    for (int i = 0; i < n; i++)
        fds[STANDBY_FD + i] = st_fd_above(handed[i], N_FDS);
    at = n > 0 ? take_words(orders.data, end, program) : NULL;
    at = take_words(at, end, args);
    if (!take_words(at, end, env) || null < 0 || n <= RUNTIME_FD - STANDBY_FD)
        _exit(1);
    st_spawn_become(&(struct st_spawn){
        .program = program[0], .argv = args, .envp = env, .fds = fds, .n_fds = STANDBY_FD + n, .say_fd = -1});
}

void st_ahead_begin(struct st_ahead *a)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return;
    a->between = fork();
    if (a->between == 0) {
        pid_t child;

        close(pair[0]);
        child = st_spawn_fork(st_home_open_group());
        if (child == 0)
            await_orders(pair[1]);
        _exit(child < 0);
    }
    close(pair[1]);
    a->orders = pair[0];
    if (a->between < 0)
        st_close(&a->orders);
}

/* ---- who tells ---- */

static int listen_at(const char *state_dir)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    st_auto_free char *dir = st_xasprintf("%s/" ST_AHEAD_DIR, state_dir);
    st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int n = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%d", dir, (int)getpid());

    if (fd < 0 || n < 0 || (size_t)n >= sizeof(addr.sun_path))
        return -1;
    if (mkdir(dir, 0700) < 0 && errno == ENOENT &&
        (st_mkdir_p(state_dir, 0755, NULL) < 0 || mkdir(dir, 0700) < 0))
        return -1;
    unlink(addr.sun_path); /* of a runtime that had our pid before */
    if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 1) < 0)
        return -1;
    return st_steal_fd(&fd);
}

static void add_words(struct st_buf *out, const char *const *words)
{
    for (; *words; words++)
        st_buf_add(out, *words, strlen(*words) + 1);
    st_buf_addc(out, '\0');
}

static void hand_over(int socket_fd, const int *fds, size_t n, const struct st_buf *orders)
{
    union handed control = {0};
    struct iovec from = {.iov_base = orders->data, .iov_len = orders->len};
    struct msghdr m = {.msg_iov = &from,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = CMSG_SPACE(n * sizeof(int))};
    ssize_t sent;

    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
    do
        sent = sendmsg(socket_fd, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
}

void st_ahead_go(struct st_ahead *a, const struct st_config *config, const char *listener,
                 const char *const *args, const char *const *env)
{
    const char *const program[] = {config->hook, NULL};
    st_auto_buf orders = ST_BUF_INIT;
    /* Who can't be started takes no name away either. */
    st_auto_fd socket_fd =
        a->orders < 0 || access(config->hook, X_OK) < 0 ? -1 : listen_at(config->state_dir);
    st_auto_fd self = pidfd_open(getpid(), 0);
    st_auto_fd notify = listener ? st_notify_listen(listener, NULL) : -1;
    const int fds[N_HANDED] = {socket_fd, self, notify};

    if (socket_fd < 0 || self < 0 || (listener && notify < 0))
        return;
    add_words(&orders, program);
    add_words(&orders, args);
    add_words(&orders, env);
    hand_over(a->orders, fds, listener ? N_HANDED : N_HANDED - 1, &orders);
    st_close(&a->orders);
}

void st_ahead_end(struct st_ahead *a)
{
    st_close(&a->orders);
    while (a->between > 0 && waitpid(a->between, NULL, 0) < 0 && errno == EINTR)
        continue;
    a->between = 0;
}
