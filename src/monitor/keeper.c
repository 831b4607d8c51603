/* keeper: see keeper.h. */
#include "monitor/keeper.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "monitor/home.h"
#include "monitor/peer.h"
#include "sensors/notify_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#define KEEP_MS 60000 /* an engine that serves many outlives a container that it could not make */

/* 0 to 2: /dev/null; then those that `keep` knows by number. */
enum { DOOR_FD = 3, ENGINE_FD, LISTENER_FD, N_FDS };

/* Where the keeper is asked. */
static char *door_of(const char *listener)
{
    return st_xasprintf("%s.keeper", listener);
}

static bool address_of(const char *path, struct sockaddr_un *out)
{
    size_t len = strlen(path);

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (len >= sizeof(out->sun_path))
        return false;
    memcpy(out->sun_path, path, len);
    return true;
}

int st_keeper_start(const struct st_config *config, const char *listener, pid_t until, struct st_error *err)
{
    const char *argv[] = {"sandtrace-hook", "keep", "--listener", listener, NULL};
    const char *envp[] = {NULL};
    st_auto_free char *path = door_of(listener);
    st_auto_fd null = st_fd_above(open("/dev/null", O_RDWR | O_CLOEXEC), N_FDS);
    st_auto_fd door = -1, notify = -1, engine = st_fd_above(pidfd_open(until, 0), N_FDS);
    st_auto_fd group = st_fd_above(st_home_open_group(), N_FDS);
    int rc;

    notify = st_notify_listen(listener, err);
    if (notify < 0)
        return -err->errnum;
    door = st_notify_listen(path, err);
    if (door < 0)
        return -err->errnum;
    notify = st_fd_above(st_steal_fd(&notify), N_FDS);
    door = st_fd_above(st_steal_fd(&door), N_FDS);
    if (null < 0 || engine < 0 || notify < 0 || door < 0)
        return st_fail_errno(err, "keep %s", listener);
    const int fds[N_FDS] = {null, null, null, door, engine, notify};

    rc = st_spawn(&(struct st_spawn){.program = config->hook,
                                     .argv = argv,
                                     .envp = envp,
                                     .fds = fds,
                                     .n_fds = N_FDS,
                                     .cgroup_fd = group,
                                     .say_fd = -1,
                                     .orphan = true},
                  NULL);
    if (rc == 0)
        return 0;
    unlink(path);
    unlink(listener);
    return st_fail(err, -rc, "start %s: %s", config->hook, strerror(-rc));
}

/* ---- handing over ---- */

union one_fd {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool hand_over(int fd, int listener)
{
    union one_fd control = {0};
    struct iovec byte = {.iov_base = (char[]){'k'}, .iov_len = 1};
    struct msghdr m = {
        .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &listener, sizeof(int));
    return sendmsg(fd, &m, MSG_NOSIGNAL) == 1;
}

static int receive(int fd)
{
    union one_fd control = {0};
    char byte;
    struct iovec to = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {
        .msg_iov = &to, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    int got = -1;

    if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) == 1 && m.msg_controllen >= CMSG_LEN(sizeof(int)) &&
        control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&got, CMSG_DATA(&control.head), sizeof(int));
    return got;
}

static bool fetched(void)
{
    struct pollfd p[] = {{.fd = DOOR_FD, .events = POLLIN}, {.fd = ENGINE_FD, .events = POLLIN}};
    st_auto_fd fd = -1;
    struct st_peer peer;

    while (poll(p, 2, KEEP_MS) < 0)
        if (errno != EINTR)
            return false;
    if (!(p[0].revents & POLLIN))
        return false;
    fd = accept4(DOOR_FD, NULL, NULL, SOCK_CLOEXEC);
    return fd >= 0 && st_peer_is_welcome(fd, -1, &peer) && hand_over(fd, LISTENER_FD);
}

void st_keeper_keep(const char *listener)
{
    st_auto_free char *path = door_of(listener);
    bool gone = fetched();

    unlink(path);
    if (!gone)
        unlink(listener);
}

int st_keeper_ask(const char *listener)
{
    st_auto_free char *path = door_of(listener);
    st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un addr;

    if (fd < 0 || !address_of(path, &addr) || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        return -1;
    return receive(fd);
}
