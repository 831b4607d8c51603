/* errand: the messages; see errand.h. */
#include "monitor/errand.h"

#include "base/cleanup.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define WAIT_MS 500

static int send_with(int socket, const void *bytes, size_t len, const int *fds, size_t n)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(ST_ERRAND_FDS * sizeof(int))] = {0};
    struct iovec io = {(void *)(uintptr_t)bytes, len};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
    struct cmsghdr *c;

    if (n > 0) {
        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE(n * sizeof(int));
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    }
    return sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len ? 0 : -errno;
}

/* fds beyond n are closed; those that did not come are -1. */
static void take_fds(struct msghdr *m, int *fds, size_t n)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        fds[i] = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (used < n)
                fds[used++] = fd;
            else
                close(fd);
        }
    }
}

/* 1, 0: hung up, or -errno. Too much or too little is no message. */
static int receive_with(int socket, void *bytes, size_t len, int *fds, size_t n)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(ST_ERRAND_FDS * sizeof(int))];
    struct iovec io = {bytes, len};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
    ssize_t got;

    do
        got = recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ECONNRESET ? 0 : -errno;
    take_fds(&m, fds, n);
    if (got == 0)
        return 0;
    if (got == (ssize_t)len && !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return 1;
    for (size_t i = 0; i < n; i++)
        st_close(&fds[i]);
    return -EBADMSG;
}

int st_errand_send(int socket, const struct st_errand *e, const int fds[ST_ERRAND_FDS])
{
    return send_with(socket, e, sizeof(*e), fds, ST_ERRAND_FDS);
}

int st_errand_receive(int socket, struct st_errand *e, int fds[ST_ERRAND_FDS])
{
    int rc = receive_with(socket, e, sizeof(*e), fds, ST_ERRAND_FDS);

    if (rc != 1)
        return rc;
    e->name[sizeof(e->name) - 1] = e->target[sizeof(e->target) - 1] = '\0';
    e->path[sizeof(e->path) - 1] = e->target_path[sizeof(e->target_path) - 1] = '\0';
    e->text[sizeof(e->text) - 1] = '\0';
    if (fds[ST_ERRAND_FDS - 1] >= 0)
        return 1;
    for (size_t i = 0; i < ST_ERRAND_FDS; i++)
        st_close(&fds[i]);
    return -EBADMSG;
}

int st_errand_result(int reply, struct st_errand_result *out, int *fd)
{
    return receive_with(reply, out, sizeof(*out), fd, 1);
}

int st_errand_answer(int reply, int error, int fd)
{
    struct st_errand_result r = {.error = error};

    return send_with(reply, &r, sizeof(r), &fd, fd >= 0 ? 1 : 0);
}

int st_errand_do(int socket, const struct st_errand *e, int at)
{
    int fds[ST_ERRAND_FDS] = {-1, at, at, at}, pair[2], rc, got = -1;
    struct st_errand_result result = {.error = EIO};
    struct pollfd answer = {.events = POLLIN};
    st_auto_fd ours = -1, theirs = -1;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    answer.fd = ours = pair[0];
    fds[ST_ERRAND_REPLY] = theirs = pair[1];
    rc = st_errand_send(socket, e, fds);
    if (rc < 0)
        return rc;
    st_close(&theirs);
    while ((rc = poll(&answer, 1, WAIT_MS)) < 0 && errno == EINTR)
        continue;
    if (rc <= 0)
        return rc < 0 ? -errno : -ETIMEDOUT;
    rc = st_errand_result(ours, &result, &got);
    st_close(&got);
    return rc == 1 ? -result.error : -EIO;
}
