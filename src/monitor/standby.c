/* standby: see standby.h. */
#include "monitor/standby.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "monitor/peer.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PID_MAX_LEN 16

void st_standby_leave(int socket_fd)
{
    struct sockaddr_un addr = {0};
    socklen_t len = sizeof(addr);

    if (getsockname(socket_fd, (struct sockaddr *)&addr, &len) == 0 && addr.sun_path[0] == '/')
        unlink(addr.sun_path);
}

/* true: somebody is at the socket, also where the runtime has ended since. */
static bool hook_comes(int socket_fd, int runtime_fd)
{
    struct pollfd p[] = {{.fd = socket_fd, .events = POLLIN}, {.fd = runtime_fd, .events = POLLIN}};

    while (poll(p, 2, -1) < 0)
        if (errno != EINTR)
            return false;
    return p[0].revents & POLLIN;
}

static int read_pid(int fd, pid_t *pid, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    struct st_peer peer;
    char *end;
    long n;

    if (!st_peer_is_welcome(fd, -1, &peer))
        return st_fail(err, EPERM, "only root may say which process is to be watched");
    if (st_read_fd(fd, PID_MAX_LEN, &text, err) < 0)
        return -err->errnum;
    errno = 0;
    n = strtol(st_buf_cstr(&text), &end, 10);
    if (errno || end != text.data + text.len || n <= 0 || n > INT_MAX)
        return st_fail(err, EINVAL, "the hook named no process");
    *pid = (pid_t)n;
    return 0;
}

int st_standby_wait(int socket_fd, int runtime_fd, pid_t *pid, struct st_error *err)
{
    bool came = hook_comes(socket_fd, runtime_fd);
    st_auto_fd fd = -1;

    st_standby_leave(socket_fd);
    if (!came)
        return st_fail(err, ESRCH, "the runtime ended before its hook was called");
    fd = accept4(socket_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return st_fail_errno(err, "accept the hook");
    if (read_pid(fd, pid, err) < 0) {
        st_write_all(fd, err->msg, strlen(err->msg));
        return -err->errnum;
    }
    return st_steal_fd(&fd);
}
