/* leftover: see leftover.h. */
#include "monitor/leftover.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define NEW_US 1000000
#define TOUCHED_US 100000 /* an overlay makes a file elsewhere and moves it to its place */

static int64_t microseconds(const struct statx_timestamp *t)
{
    return t->tv_sec * 1000000 + t->tv_nsec / 1000;
}

bool st_leftover_is_new(int fd, const struct st_wanted *wanted)
{
    struct statx sx;
    int64_t born;

    if (!wanted->creates || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &sx) < 0 ||
        !S_ISREG(sx.stx_mode) || sx.stx_size != 0 || sx.stx_nlink != 1)
        return false;
    if (wanted->excl)
        return true;
    born = microseconds(&sx.stx_btime);
    return (sx.stx_mask & STATX_BTIME) && st_now_wall_us() - born < NEW_US &&
           microseconds(&sx.stx_ctime) - born < TOUCHED_US;
}

/* The directory, in which the name must still be that of the object. */
static int open_parent(const struct st_watch *w, int fd, const char *path, const char *name)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    char link[32], parent_path[PATH_MAX];
    st_auto_fd root = -1, parent = -1;
    struct stat want, have;

    if ((size_t)snprintf(parent_path, sizeof(parent_path), "%.*s", (int)(name - path), path) >=
        sizeof(parent_path))
        return -ENAMETOOLONG;
    snprintf(link, sizeof(link), "/proc/%d/root", (int)w->order.pid);
    root = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
    parent = root < 0 ? -1 : (int)syscall(SYS_openat2, root, parent_path, &how, sizeof(how));
    if (parent < 0 || fstat(fd, &want) < 0 || fstatat(parent, name, &have, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (want.st_dev != have.st_dev || want.st_ino != have.st_ino)
        return -ESTALE;
    return st_steal_fd(&parent);
}

int st_leftover_remove(const struct st_watch *w, pid_t tid, int fd, const char *path)
{
    struct st_errand e = {.kind = ST_ERRAND_UNLINK, .tid = tid, .by_name = 1};
    const char *slash = strrchr(path, '/');
    st_auto_fd parent = -1;

    if (!slash || strlen(slash + 1) >= sizeof(e.name))
        return -EINVAL;
    parent = open_parent(w, fd, path, slash + 1);
    if (parent < 0)
        return parent;
    memcpy(e.name, slash + 1, strlen(slash + 1) + 1);
    return st_errand_do(w->errands, &e, parent);
}
