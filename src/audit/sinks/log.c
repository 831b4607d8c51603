/* log: sinks that are datagrams: syslog (RFC 3164 over a local socket) and journald (its native protocol). A
 * record that is larger than a datagram goes to journald in a sealed memory file; of syslog's the end is cut,
 * and said so. */
#include "audit/sinks/backend.h"
#include "base/buf.h"
#include "base/cleanup.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SYSLOG_PATH "/dev/log"
#define JOURNALD_PATH "/run/systemd/journal/socket"
#define SYSLOG_MAX 8192    /* what syslog daemons take */
#define FACILITY (10 << 3) /* authpriv */

static int connect_datagram(struct st_backend_state *s, const char *path, struct st_error *err)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(addr.sun_path))
        return st_fail(err, ENAMETOOLONG, "%s: too long for a socket", path);
    memcpy(addr.sun_path, path, strlen(path) + 1);
    s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return st_fail_errno(err, "socket");
    if (connect(s->fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
        int rc = st_fail_errno(err, "connect to %s", path);

        st_close(&s->fd);
        return rc;
    }
    return 0;
}

static enum st_send outcome_of(ssize_t n)
{
    if (n >= 0)
        return ST_SENT;
    return errno == EAGAIN || errno == ENOBUFS ? ST_WAIT : ST_GONE;
}

/* ---- syslog ---- */

static int connect_syslog(struct st_backend_state *s, struct st_error *err)
{
    return connect_datagram(s, *s->target ? s->target : SYSLOG_PATH, err);
}

static enum st_send send_syslog(struct st_backend_state *s, const struct st_queued *item, int64_t now_ns,
                                struct st_error *err)
{
    char text[SYSLOG_MAX];
    size_t room, len = item->line.len;
    ssize_t n;
    int head = snprintf(text, sizeof(text), "<%d>sandtrace[%d]: ", FACILITY | st_backend_priority(item),
                        (int)getpid());

    (void)now_ns;
    room = sizeof(text) - (size_t)head;
    if (len > room)
        len = room - 4;
    memcpy(text + head, item->line.p, len);
    if (len < item->line.len) {
        memcpy(text + head + len, " ...", 4);
        len += 4;
    }
    do
        n = send(s->fd, text, (size_t)head + len, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EMSGSIZE) {
        st_fail_errno(err, "syslog");
        return ST_LOST;
    }
    return outcome_of(n);
}

const struct st_backend st_backend_syslog = {
    .connect = connect_syslog,
    .send = send_syslog,
    .close = st_backend_close_fd,
};

/* ---- journald ---- */

static int connect_journald(struct st_backend_state *s, struct st_error *err)
{
    return connect_datagram(s, *s->target ? s->target : JOURNALD_PATH, err);
}

/* A field whose value may hold anything: its name, a newline, the length in 64 bits, the value, a newline. */
static void add_field(struct st_buf *out, const char *name, const char *value, size_t n)
{
    uint64_t le = htole64(n);

    st_buf_adds(out, name);
    st_buf_addc(out, '\n');
    st_buf_add(out, &le, sizeof(le));
    st_buf_add(out, value, n);
    st_buf_addc(out, '\n');
}

static ssize_t send_in_file(int fd, const struct st_buf *fields)
{
    st_auto_fd file = memfd_create("sandtrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct msghdr message = {.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);

    if (file < 0 || write(file, fields->data, fields->len) != (ssize_t)fields->len ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
        return -1;
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &(int){file}, sizeof(int));
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

static enum st_send send_journald(struct st_backend_state *s, const struct st_queued *item, int64_t now_ns,
                                  struct st_error *err)
{
    st_auto_buf fields = ST_BUF_INIT;
    const char *type = st_event_type_name(item->type), *result = st_result_name(item->result);
    ssize_t n;

    (void)now_ns;
    (void)err;
    st_buf_addf(&fields, "PRIORITY=%d\nSYSLOG_IDENTIFIER=sandtrace\nSYSLOG_FACILITY=%d\n",
                st_backend_priority(item), FACILITY >> 3);
    st_buf_addf(&fields, "SANDTRACE_TYPE=%s\nSANDTRACE_RESULT=%s\n", item->notice ? "missed" : type, result);
    add_field(&fields, "MESSAGE", item->line.p, item->line.len);
    do
        n = send(s->fd, fields.data, fields.len, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EMSGSIZE)
        n = send_in_file(s->fd, &fields);
    return outcome_of(n);
}

const struct st_backend st_backend_journald = {
    .lines = true,
    .connect = connect_journald,
    .send = send_journald,
    .close = st_backend_close_fd,
};
