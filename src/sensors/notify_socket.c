/* notify_socket: see notify_socket.h. */
#include "sensors/notify_socket.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash != path ? st_xstrndup(path, (size_t)(slash - path)) : NULL;
}

/* The one above it too, where we are the first to start anything since the machine did. */
static int make_directory(const char *path, struct st_error *err)
{
    st_auto_free char *dir = parent_of(path);
    st_auto_free char *above = dir ? parent_of(dir) : NULL;

    if (!above)
        return st_fail(err, EINVAL, "%s: not a path for a socket", path);
    if (mkdir(dir, 0700) == 0 || errno == EEXIST)
        return 0;
    if (errno == ENOENT && st_mkdir_p(above, 0755, err) < 0)
        return -err->errnum;
    return mkdir(dir, 0700) < 0 && errno != EEXIST ? st_fail_errno(err, "make %s", dir) : 0;
}

int st_notify_listen(const char *path, struct st_error *err)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    st_auto_fd fd = -1;

    if (strlen(path) >= sizeof(addr.sun_path))
        return st_fail(err, ENAMETOOLONG, "%s: longer than the path of a socket may be", path);
    if (make_directory(path, err) < 0)
        return -err->errnum;
    memcpy(addr.sun_path, path, strlen(path) + 1);
    unlink(path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        return st_fail_errno(err, "bind %s", path);
    if (chmod(path, 0600) < 0 || listen(fd, 64) < 0)
        return st_fail_errno(err, "listen at %s", path);
    return st_steal_fd(&fd);
}
