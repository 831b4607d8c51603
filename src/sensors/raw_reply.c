/* raw_reply: see raw_reply.h. A socket of IPPROTO_RAW takes whole packets and receives nothing. */
#include "sensors/raw_reply.h"

#include "base/cleanup.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static int open_raw(int family, uint32_t mark, struct st_error *err)
{
    st_auto_fd fd = socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_RAW);

    if (fd < 0)
        return st_fail_errno(err, "raw socket of IPv%d", family == AF_INET ? 4 : 6);
    if (mark && setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0)
        return st_fail_errno(err, "mark of a raw socket");
    return st_steal_fd(&fd);
}

int st_raw_reply_open(struct st_raw_reply *out, uint32_t mark, struct st_error *err)
{
    struct st_error six = {0};
    int rc;

    *out = (struct st_raw_reply)ST_RAW_REPLY_NONE;
    out->fd4 = open_raw(AF_INET, mark, err);
    if (out->fd4 < 0)
        return out->fd4;
    rc = open_raw(AF_INET6, mark, &six);
    if (rc < 0 && rc != -EAFNOSUPPORT) {
        st_raw_reply_close(out);
        return st_fail(err, -rc, "%s", six.msg);
    }
    out->fd6 = rc < 0 ? -1 : rc;
    return 0;
}

void st_raw_reply_close(struct st_raw_reply *r)
{
    st_close(&r->fd4);
    st_close(&r->fd6);
}

static int send_to(int fd, const uint8_t *packet, size_t n, const void *addr, socklen_t len)
{
    return sendto(fd, packet, n, MSG_DONTWAIT | MSG_NOSIGNAL, addr, len) == (ssize_t)n ? 0 : -errno;
}

int st_raw_reply_send(const struct st_raw_reply *r, const uint8_t *packet, size_t n, unsigned ifindex)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};

    if (n >= 20 && packet[0] >> 4 == 4) {
        memcpy(&four.sin_addr, packet + 16, 4);
        return send_to(r->fd4, packet, n, &four, sizeof(four));
    }
    if (n >= 40 && packet[0] >> 4 == 6) {
        memcpy(&six.sin6_addr, packet + 24, 16);
        if (IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr))
            six.sin6_scope_id = ifindex;
        return send_to(r->fd6, packet, n, &six, sizeof(six));
    }
    return -EINVAL;
}
