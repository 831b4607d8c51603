/* resolved: what is asked about something that was resolved, once it is wanted; see resolve.h. */
#include "sensors/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DELETED " (deleted)"

/* ---- the path ---- */

/* /proc/OURS/… becomes what the container calls it. */
static size_t as_container_sees(const struct st_resolver *who, char *path, size_t len)
{
    char ours[32], theirs[32];
    int n = snprintf(ours, sizeof(ours), "/proc/%d", (int)who->leader);
    int m = snprintf(theirs, sizeof(theirs), "/proc/%d", (int)who->container_pid);
    size_t from = (size_t)n, to = (size_t)m;

    if (!who->container_pid || len < from || memcmp(path, ours, from) != 0 || to > from ||
        (len > from && path[from] != '/'))
        return len;
    memmove(path + to, path + from, len - from);
    memcpy(path, theirs, to);
    return len - (from - to);
}

/* Removed meanwhile, never linked, or of memory only: the kernel says so behind the path. A name may end in
 * the same words: only where no link is left do they count. */
static bool is_nameless(int fd, const char *path, size_t len)
{
    struct stat sb;

    return len > strlen(DELETED) && memcmp(path + len - strlen(DELETED), DELETED, strlen(DELETED)) == 0 &&
           (fstat(fd, &sb) < 0 || sb.st_nlink == 0);
}

static ssize_t read_path(const struct st_resolver *who, int fd, char *out)
{
    int fds = who->kept ? who->kept->fds : -1;
    char link[32];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return fds < 0 ? readlink(link, out, PATH_MAX)
                   : readlinkat(fds, link + strlen("/proc/self/fd/"), out, PATH_MAX);
}

void st_resolved_find_path(const struct st_resolver *who, struct st_resolved *r)
{
    int fd = r->parent >= 0 ? r->parent : r->object;
    size_t tail = r->parent >= 0 ? strlen(r->name) : 0;
    ssize_t n;

    if (r->foreign || r->path_len || fd < 0)
        return;
    n = read_path(who, fd, r->path);
    if (n <= 0 || n == PATH_MAX || r->path[0] != '/' || is_nameless(fd, r->path, (size_t)n))
        return;
    r->path_len = r->own_proc ? as_container_sees(who, r->path, (size_t)n) : (size_t)n;
    if (tail == 0)
        return;
    if (r->path_len > 1)
        r->path[r->path_len++] = '/';
    memcpy(r->path + r->path_len, r->name, tail);
    r->path_len += tail;
}

/* ---- the object ---- */

int st_resolved_open(struct st_resolved *r)
{
    st_auto_fd fd = -1;
    struct stat sb;

    if (r->object >= 0)
        return 0;
    if (!r->there)
        return -ENOENT;
    fd = openat(r->parent, r->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &sb) < 0)
        return -errno;
    if (sb.st_dev != r->sb.st_dev || sb.st_ino != r->sb.st_ino ||
        (sb.st_mode & S_IFMT) != (r->sb.st_mode & S_IFMT))
        return -ESTALE;
    r->object = st_steal_fd(&fd);
    return 0;
}

uint64_t st_resolved_mount(struct st_resolved *r)
{
    if (!r->parent_mount)
        r->parent_mount = r->there && !r->is_mount ? r->mount : st_mount_of(r->parent);
    return r->parent_mount;
}

void st_resolved_close(struct st_resolved *r)
{
    st_close(&r->parent);
    st_close(&r->object);
}
