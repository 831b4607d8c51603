/* link: see link.h. */
#include "monitor/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int st_link_send(int fd, enum st_link_kind kind, int64_t value, const char *text)
{
    struct st_link_message m = {.kind = kind, .value = value};

    if (text)
        snprintf(m.text, sizeof(m.text), "%s", text);
    for (;;) {
        if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) == (ssize_t)sizeof(m))
            return 0;
        if (errno != EINTR)
            return -errno;
    }
}

union fd_room {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

int st_link_send_fd(int link, enum st_link_kind kind, int fd)
{
    struct st_link_message m = {.kind = kind};
    union fd_room room = {0};
    struct iovec iov = {.iov_base = &m, .iov_len = sizeof(m)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof(room.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    ssize_t n;

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    do
        n = sendmsg(link, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(m) ? 0 : -errno;
}

int st_link_receive(int fd, struct st_link_message *out)
{
    int passed = -1, rc = st_link_receive_fd(fd, out, &passed);

    if (passed < 0)
        return rc;
    close(passed);
    return -EBADMSG;
}

/* There is room for one: the kernel closes what would be more, and says so. */
int st_link_receive_fd(int fd, struct st_link_message *out, int *passed)
{
    union fd_room room = {0};
    struct iovec iov = {.iov_base = out, .iov_len = sizeof(*out)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof(room.bytes)};
    struct cmsghdr *c;
    ssize_t n;

    *passed = -1;
    do
        n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    c = n >= 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(passed, CMSG_DATA(c), sizeof(*passed));
    if (n > 0 && (msg.msg_flags & MSG_CTRUNC))
        return -EBADMSG;
    if (n == 0)
        return 0;
    if (n < 0)
        return errno == ECONNRESET ? 0 : -errno;
    if (n != (ssize_t)sizeof(*out))
        return -EBADMSG;
    out->text[sizeof(out->text) - 1] = '\0';
    return 1;
}

const char *st_link_last_words(int fd, struct st_link_message *m)
{
    int rc, ends = 0;

    do /* what comes with an fd has no words; that it was cut off is told before what it said */
        rc = st_link_receive(fd, m);
    while (rc == -EBADMSG || (rc == 1 && m->kind != ST_LINK_FAILED) || (rc == 0 && ends++ == 0));
    return rc == 1 ? m->text : "sandtrace-monitor: the worker ended before it was ready";
}
