/* own_mounts: see own_mounts.h. */
#include "sensors/own_mounts.h"

#include "base/mountinfo.h"

#include <fcntl.h>
#include <sys/stat.h>

uint64_t st_mount_of(int fd)
{
    struct statx sx;

    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &sx) < 0 ||
        !(sx.stx_mask & STATX_MNT_ID))
        return 0;
    return sx.stx_mnt_id;
}

bool st_mount_remembered(const struct st_own_mounts *list, uint64_t id)
{
    for (size_t i = 0; list && id && i < ST_OWN_MOUNTS; i++)
        if (list->ids[i] == id)
            return true;
    return false;
}

void st_mount_remember(struct st_own_mounts *list, uint64_t id)
{
    if (list && id)
        list->ids[list->next++ % ST_OWN_MOUNTS] = id;
}

bool st_own_mount(struct st_own_mounts *own, pid_t tid, int fd)
{
    st_auto_mounts mounts = {0};
    uint64_t here = st_mount_of(fd);

    if (here == 0)
        return false;
    if (st_mount_remembered(own, here))
        return true;
    if (st_mounts_read(tid, &mounts, NULL) < 0)
        return false;
    for (size_t i = 0; i < mounts.n; i++) {
        if ((uint64_t)mounts.list[i].id != here)
            continue;
        st_mount_remember(own, here);
        return true;
    }
    return false;
}
