/* stream: sinks that are written to line by line: a file, standard output, a socket. */
#include "audit/sinks/backend.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* What is to be written next; the newline is the last byte. */
static size_t next_piece(const struct st_backend_state *s, const struct st_queued *item, const char **from)
{
    *from = s->done < item->line.len ? item->line.p + s->done : "\n";
    return s->done < item->line.len ? item->line.len - s->done : 1;
}

static bool finished(const struct st_backend_state *s, const struct st_queued *item)
{
    return s->done == item->line.len + 1;
}

/* Counts what was written; false: nothing was, and errno says why. */
static bool took(struct st_backend_state *s, ssize_t n)
{
    if (n < 0)
        return errno == EINTR;
    s->done += (size_t)n;
    return true;
}

/* ---- file ---- */

static int connect_file(struct st_backend_state *s, struct st_error *err)
{
    struct stat sb;

    s->fd =
        open(s->target, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0640);
    if (s->fd < 0)
        return st_fail_errno(err, "open %s", s->target);
    if (fstat(s->fd, &sb) < 0 || !S_ISREG(sb.st_mode)) {
        st_close(&s->fd);
        return st_fail(err, EINVAL, "%s: not a regular file", s->target);
    }
    return 0;
}

/* A record cut by a full disk is finished when there is room again: the file stays open. */
static enum st_send send_file(struct st_backend_state *s, const struct st_queued *item, int64_t now_ns,
                              struct st_error *err)
{
    (void)now_ns;
    (void)err;
    while (!finished(s, item)) {
        const char *from;
        size_t n = next_piece(s, item, &from);

        if (!took(s, write(s->fd, from, n)))
            return s->done ? ST_WAIT : ST_GONE;
    }
    return ST_SENT;
}

/* A regular file is always ready, so that waiting for it would spin: it is tried again after a while. */
static int poll_file(const struct st_backend_state *s, short *events)
{
    (void)s;
    *events = 0;
    return -1;
}

const struct st_backend st_backend_file = {
    .lines = true,
    .connect = connect_file,
    .send = send_file,
    .close = st_backend_close_fd,
    .poll = poll_file,
};

/* ---- standard output ---- */

static int connect_stdout(struct st_backend_state *s, struct st_error *err)
{
    s->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return s->fd < 0 ? st_fail_errno(err, "standard output") : 0;
}

/* Others may share our file description: O_NONBLOCK is not ours to set. A pipe that is ready takes PIPE_BUF
 * bytes without waiting. */
static enum st_send send_stdout(struct st_backend_state *s, const struct st_queued *item, int64_t now_ns,
                                struct st_error *err)
{
    (void)now_ns;
    (void)err;
    while (!finished(s, item)) {
        struct pollfd p = {.fd = s->fd, .events = POLLOUT};
        const char *from;
        size_t n = next_piece(s, item, &from);

        if (poll(&p, 1, 0) <= 0)
            return ST_WAIT;
        if (p.revents != POLLOUT)
            return ST_GONE;
        if (!took(s, write(s->fd, from, n < PIPE_BUF ? n : PIPE_BUF)))
            return errno == EAGAIN ? ST_WAIT : ST_GONE;
    }
    return ST_SENT;
}

const struct st_backend st_backend_stdout = {
    .lines = true,
    .connect = connect_stdout,
    .send = send_stdout,
    .close = st_backend_close_fd,
};

/* ---- a socket that somebody listens on ---- */

static int connect_unix(struct st_backend_state *s, struct st_error *err)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    if (strlen(s->target) >= sizeof(addr.sun_path))
        return st_fail(err, ENAMETOOLONG, "%s: too long for a socket", s->target);
    memcpy(addr.sun_path, s->target, strlen(s->target) + 1);
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return st_fail_errno(err, "socket");
    if (connect(s->fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
        int rc = st_fail_errno(err, "connect to %s", s->target);

        st_close(&s->fd);
        return rc;
    }
    return 0;
}

static enum st_send send_unix(struct st_backend_state *s, const struct st_queued *item, int64_t now_ns,
                              struct st_error *err)
{
    (void)now_ns;
    (void)err;
    while (!finished(s, item)) {
        const char *from;
        size_t n = next_piece(s, item, &from);

        if (!took(s, send(s->fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT)))
            return errno == EAGAIN ? ST_WAIT : ST_GONE;
    }
    return ST_SENT;
}

const struct st_backend st_backend_unix = {
    .lines = true,
    .connect = connect_unix,
    .send = send_unix,
    .close = st_backend_close_fd,
};
