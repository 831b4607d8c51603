/* leftover: see leftover.h. */
#include "monitor/leftover.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define NEW_US 1000000
#define TOUCHED_US 100000 /* an overlay makes a file elsewhere and moves it to its place */
#define WAIT_MS 500

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

/* A performer opens nothing on the container's file systems: it does not wait for us while we wait for it. */
static int send_and_wait(const struct st_watch *w, const struct st_errand *e, int parent)
{
    int fds[ST_ERRAND_FDS] = {-1, parent, parent, parent}, pair[2], rc, got = -1;
    struct st_errand_result result = {.error = EIO};
    struct pollfd answer = {.events = POLLIN};
    st_auto_fd ours = -1, theirs = -1;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    answer.fd = ours = pair[0];
    fds[ST_ERRAND_REPLY] = theirs = pair[1];
    rc = st_errand_send(w->errands, e, fds);
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
    return send_and_wait(w, &e, parent);
}
