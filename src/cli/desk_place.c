/* desk_place: see desk_place.h. */
#include "cli/desk_place.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BACKLOG 128

static int not_here(const char *text, struct st_error *err)
{
    return st_fail(
        err, EINVAL,
        "%s: the review desk listens on this machine only: 127.0.0.1:PORT, [::1]:PORT or unix:PATH; whoever "
        "reaches it can approve and kill. From elsewhere: ssh -L 8466:127.0.0.1:8466",
        text);
}

static bool read_port(const char *text, unsigned *port)
{
    size_t len = strlen(text);

    *port = 0;
    if (len == 0 || len > 5 || strspn(text, "0123456789") != len)
        return false;
    for (; *text; text++)
        *port = *port * 10 + (unsigned)(*text - '0');
    return *port <= 65535;
}

int st_desk_place_parse(const char *text, struct st_desk_place *out, struct st_error *err)
{
    static const struct {
        const char *begin;
        bool v6;
    } hosts[] = {{"127.0.0.1:", false}, {"localhost:", false}, {"[::1]:", true}};

    *out = (struct st_desk_place){0};
    if (strncmp(text, "unix:", 5) == 0) {
        out->local = true;
        out->path = text + 5;
        if (out->path[0] != '/' || strlen(out->path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
            return st_fail(err, EINVAL, "%s: an absolute path of at most %zu bytes is wanted", text,
                           sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
        return 0;
    }
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        size_t len = strlen(hosts[i].begin);

        if (strncmp(text, hosts[i].begin, len) != 0)
            continue;
        out->v6 = hosts[i].v6;
        return read_port(text + len, &out->port) ? 0 : st_fail(err, EINVAL, "%s: no port", text);
    }
    return not_here(text, err);
}

/* What one that was killed left behind is taken away, and nothing else: a connection to a plain file is
 * refused just as one to a socket at which nobody listens. */
static int make_room(const char *path, struct st_error *err)
{
    struct stat sb;

    if (lstat(path, &sb) < 0)
        return errno == ENOENT ? 0 : st_fail_errno(err, "%s", path);
    if (!S_ISSOCK(sb.st_mode))
        return st_fail(err, EEXIST, "%s: is there and is no socket; write another path", path);
    return unlink(path) < 0 ? st_fail_errno(err, "remove %s", path) : 0;
}

static int open_local(const struct st_desk_place *p, long gid, struct st_error *err)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    st_auto_fd probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t before;
    int rc;

    if (fd < 0 || probe < 0)
        return st_fail_errno(err, "socket");
    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", p->path);
    if (connect(probe, (struct sockaddr *)&addr, sizeof(addr)) == 0)
        return st_fail(err, EADDRINUSE, "%s: somebody listens there already", p->path);
    if (errno == ECONNREFUSED && make_room(p->path, err) < 0)
        return -err->errnum;
    before = umask(0177);
    rc = bind(fd, (struct sockaddr *)&addr, sizeof(addr));
    umask(before);
    if (rc < 0)
        return st_fail_errno(err, "listen at %s", p->path);
    if (gid >= 0 && (chown(p->path, (uid_t)-1, (gid_t)gid) < 0 || chmod(p->path, 0660) < 0))
        return st_fail_errno(err, "%s: give it to the control group", p->path);
    if (listen(fd, BACKLOG) < 0)
        return st_fail_errno(err, "listen at %s", p->path);
    return st_steal_fd(&fd);
}

static int open_port(struct st_desk_place *p, struct st_error *err)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr *addr = p->v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t len = p->v6 ? sizeof(v6) : sizeof(v4);
    st_auto_fd fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;

    v4.sin_port = v6.sin6_port = htons((uint16_t)p->port);
    if (fd < 0)
        return st_fail_errno(err, "socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, addr, len) < 0 || listen(fd, BACKLOG) < 0 || getsockname(fd, addr, &len) < 0)
        return st_fail_errno(err, "listen at %s:%u", p->v6 ? "[::1]" : "127.0.0.1", p->port);
    p->port = ntohs(p->v6 ? v6.sin6_port : v4.sin_port);
    return st_steal_fd(&fd);
}

int st_desk_place_open(struct st_desk_place *p, long gid, struct st_error *err)
{
    return p->local ? open_local(p, gid, err) : open_port(p, err);
}

void st_desk_place_url(const struct st_desk_place *p, char *out, size_t size)
{
    if (p->local)
        snprintf(out, size, "http://localhost");
    else
        snprintf(out, size, "http://%s:%u", p->v6 ? "[::1]" : "127.0.0.1", p->port);
}
