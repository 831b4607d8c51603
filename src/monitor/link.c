/* link: see link.h. */
#include "monitor/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

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

int st_link_receive(int fd, struct st_link_message *out)
{
    ssize_t n;

    do
        n = recv(fd, out, sizeof(*out), MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        return 0;
    if (n < 0)
        return errno == ECONNRESET ? 0 : -errno;
    if (n != (ssize_t)sizeof(*out))
        return -EBADMSG;
    out->text[sizeof(out->text) - 1] = '\0';
    return 1;
}
