/* ahead: see ahead.h. */
#include "shim/ahead.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "monitor/enlist.h"
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

/* 0 to 2: /dev/null; then those that are handed over. */
enum { STANDBY_FD = 3, RUNTIME_FD, LISTENER_FD, N_FDS };
#define N_HANDED (N_FDS - STANDBY_FD)

#define ORDERS_MAX (8u << 20)

/* Behind one another, each with its NUL; an empty one: there is none. */
enum { ID, BUNDLE, LISTENER, FLOOR, N_WORDS };

union handed {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(N_HANDED * sizeof(int))];
};

/* ---- who waits ---- */

static bool take_words(const struct st_buf *orders, const char *out[N_WORDS])
{
    const char *at = orders->data, *end = orders->data + orders->len;

    for (int i = 0; i < N_WORDS; i++) {
        const char *nul = memchr(at, '\0', (size_t)(end - at));

        if (!nul)
            return false;
        out[i] = *at ? at : NULL;
        at = nul + 1;
    }
    return out[ID] && out[BUNDLE];
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

/* Of all that the engine gave us nothing is kept. */
static bool keep_only(const int *handed, int n)
{
    int null = st_fd_above(open("/dev/null", O_RDWR | O_CLOEXEC), N_FDS), above[N_HANDED];

    for (int i = 0; i < n; i++)
        above[i] = st_fd_above(handed[i], N_FDS);
    for (int i = 0; i < STANDBY_FD + n; i++)
        if (dup2(i < STANDBY_FD ? null : above[i - STANDBY_FD], i) < 0)
            return false;
    return close_range((unsigned)(STANDBY_FD + n), ~0U, 0) == 0;
}

/* Whoever told us is not told back: the hook will find nobody, try for itself, and say why. */
static _Noreturn void await_orders(const struct st_config *config, int socket_fd)
{
    const char *words[N_WORDS];
    struct st_buf orders = ST_BUF_INIT;
    struct st_error err = {0};
    int handed[N_HANDED], n = receive(socket_fd, handed, &orders);

    if (n <= RUNTIME_FD - STANDBY_FD || !take_words(&orders, words) || !keep_only(handed, n))
        _exit(1);
    st_enlist_standby(&(struct st_enlist){.listener = words[LISTENER], .floor = words[FLOOR]}, config,
                      &(struct st_oci_state){.id = words[ID], .bundle = words[BUNDLE]}, STANDBY_FD,
                      RUNTIME_FD, n == N_HANDED ? LISTENER_FD : -1, &err);
    _exit(err.errnum != 0);
}

void st_ahead_begin(struct st_ahead *a, const struct st_config *config)
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
            await_orders(config, pair[1]);
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

static void add_word(struct st_buf *out, const char *word)
{
    st_buf_add(out, word ? word : "", word ? strlen(word) + 1 : 1);
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

void st_ahead_go(struct st_ahead *a, const struct st_config *config, const struct st_ahead_order *order)
{
    st_auto_buf orders = ST_BUF_INIT;
    /* Who can't be started takes no name away either. */
    st_auto_fd socket_fd =
        a->orders < 0 || access(config->monitor, X_OK) < 0 ? -1 : listen_at(config->state_dir);
    st_auto_fd self = pidfd_open(getpid(), 0);
    st_auto_fd notify = order->listener ? st_notify_listen(order->listener, NULL) : -1;
    const int fds[N_HANDED] = {socket_fd, self, notify};

    if (socket_fd < 0 || self < 0 || (order->listener && notify < 0))
        return;
    add_word(&orders, order->id);
    add_word(&orders, order->bundle);
    add_word(&orders, order->listener);
    add_word(&orders, order->floor);
    hand_over(a->orders, fds, order->listener ? N_HANDED : N_HANDED - 1, &orders);
    st_close(&a->orders);
}

void st_ahead_end(struct st_ahead *a)
{
    st_close(&a->orders);
    while (a->between > 0 && waitpid(a->between, NULL, 0) < 0 && errno == EINTR)
        continue;
    a->between = 0;
}
