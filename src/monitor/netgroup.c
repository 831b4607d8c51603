/* netgroup: see netgroup.h. */
#include "monitor/netgroup.h"

#include "respond/cgroup.h"

#include <errno.h>
#include <sys/stat.h>

#define FIRST_CGROUP_NAMESPACE 0xEFFFFFFBU /* its inode, on every machine */

static uint32_t level_of(const char *path)
{
    uint32_t level = 0;

    for (; *path; path++)
        level += *path == '/' && path[1] && path[1] != '/';
    return level;
}

/* Levels are counted from the root that the kernel sees, which need not be ours. */
static int check_namespace(struct st_error *err)
{
    struct stat sb;

    if (stat("/proc/self/ns/cgroup", &sb) == 0 && sb.st_ino != FIRST_CGROUP_NAMESPACE)
        return st_fail(err, EPERM, "we run in a cgroup namespace: the container's place can't be told");
    return 0;
}

int st_netgroup_find(pid_t init, struct st_ruleset_group *out, struct st_error *err)
{
    st_auto_mounts mounts = {0};
    st_auto_cgroup group = ST_CGROUP_NONE;
    struct stat sb;

    if (check_namespace(err) < 0 || st_mounts_read(0, &mounts, err) < 0 ||
        st_cgroup_open(&mounts, init, ST_CGROUP_ONLY_V2, &group, err) < 0)
        return -err->errnum;
    if (fstat(group.dirfd, &sb) < 0)
        return st_fail_errno(err, "control group %s", group.path);
    *out = (struct st_ruleset_group){.level = level_of(group.path), .id = sb.st_ino};
    return 0;
}
