/* busdir: see busdir.h. */
#include "monitor/busdir.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

static mode_t mode_for(int64_t gid)
{
    return gid >= 0 ? 03770 : 0755;
}

static bool is_right(const struct stat *sb, int64_t gid)
{
    return sb->st_uid == 0 && (sb->st_mode & 07777) == mode_for(gid) && (gid < 0 || sb->st_gid == (gid_t)gid);
}

static int make_right(int dirfd, int fd, int64_t gid, struct st_error *err)
{
    if (mkdirat(dirfd, ST_BUS_DIR, 0700) < 0 && errno != EEXIST)
        return st_fail_errno(err, "make " ST_BUS_DIR);
    if (fd >= 0 && (fchown(fd, 0, gid >= 0 ? (gid_t)gid : 0) < 0 || fchmod(fd, mode_for(gid)) < 0))
        return st_fail_errno(err, "owner and mode of " ST_BUS_DIR);
    return 0;
}

int st_busdir_open(const char *state_dir, int64_t gid, struct st_error *err)
{
    st_auto_fd parent = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
    struct stat sb;

    if (parent < 0)
        return st_fail_errno(err, "%s", state_dir);
    if (geteuid() == 0 && make_right(parent, -1, gid, err) < 0)
        return -err->errnum;
    fd = openat(parent, ST_BUS_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &sb) < 0)
        return st_fail_errno(err, "%s/" ST_BUS_DIR, state_dir);
    if (!is_right(&sb, gid) && sb.st_uid == 0 && geteuid() == 0) {
        if (make_right(parent, fd, gid, err) < 0)
            return -err->errnum;
        if (fstat(fd, &sb) < 0)
            return st_fail_errno(err, "%s/" ST_BUS_DIR, state_dir);
    }
    if (!is_right(&sb, gid))
        return st_fail(err, EPERM, "%s/" ST_BUS_DIR ": others than root%s can write there", state_dir,
                       gid >= 0 ? " and the control group" : "");
    return st_steal_fd(&fd);
}
