/* marks: see marks.h. */
#include "sensors/marks.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* An overlay that is mounted nowhere on the host but at the container's own root belongs to the container.
 * Everything else is shared with somebody until proven otherwise. */
bool st_marks_owns_superblock(const struct st_mount *m, const char *point, const struct st_mounts *host,
                              const char *rootfs)
{
    if (strcmp(m->type, "overlay") != 0 || strcmp(m->root, "/") != 0 || strcmp(m->point, point) != 0)
        return false;
    for (size_t i = 0; i < host->n; i++) {
        const struct st_mount *h = &host->list[i];

        if (h->major == m->major && h->minor == m->minor && strcmp(h->point, rootfs) != 0)
            return false;
    }
    return true;
}

/* Pseudo file systems have no files of anybody: the kernel refuses the mark or there is nothing to protect
 * that the mark could see. */
const char *st_marks_skip(const struct st_mount *m)
{
    static const char *const types[] = {"proc",   "sysfs",      "cgroup",  "cgroup2", "devpts",
                                        "mqueue", "securityfs", "debugfs", "tracefs"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(m->type, types[i]) == 0)
            return "a pseudo file system without permission events";
    return NULL;
}

int st_marks_plan(const struct st_mounts *container, const struct st_mounts *host, const char *rootfs,
                  struct st_mark_plan *out, struct st_error *err)
{
    bool found = false;

    *out = (struct st_mark_plan){.list = st_xcalloc(container->n, sizeof(*out->list))};
    for (size_t i = 0; i < container->n; i++) {
        const struct st_mount *m = &container->list[i];

        if (!is_below(m->point, rootfs))
            continue;
        found |= strcmp(m->point, rootfs) == 0;
        out->list[out->n++] = (struct st_mark){
            .mount = m,
            .target = st_marks_owns_superblock(m, rootfs, host, rootfs) ? ST_FAN_SUPERBLOCK : ST_FAN_MOUNT,
            .mask = st_fan_decide_mask(),
            .skip = st_marks_skip(m),
        };
    }
    if (found)
        return 0;
    st_marks_free(out);
    return st_fail(err, ENOENT, "the container's root %s is not among its mounts", rootfs);
}

void st_marks_free(struct st_mark_plan *plan)
{
    free(plan->list);
    *plan = (struct st_mark_plan){0};
}

/* Relative to the container's root directory; RESOLVE_NO_SYMLINKS: a mount table has real paths only. */
static int open_mount(int root, const struct st_mount *m)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    const char *relative = m->point[1] ? m->point + 1 : ".";

    return (int)syscall(SYS_openat2, root, relative, &how, sizeof(how));
}

static bool is_mount(int fd, int id)
{
    struct statx sx;

    return statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &sx) == 0 && (sx.stx_mask & STATX_MNT_ID) &&
           sx.stx_mnt_id == (uint64_t)id;
}

int st_marks_open(int root, const struct st_mount *m)
{
    st_auto_fd fd = open_mount(root, m);

    if (fd < 0)
        return -errno;
    return is_mount(fd, m->id) ? st_steal_fd(&fd) : -ESTALE;
}

static dev_t device_of_host_root(void)
{
    struct stat sb;

    return stat("/", &sb) == 0 ? sb.st_dev : 0;
}

bool st_marks_is_hosts(int fd)
{
    struct stat sb;

    return fstat(fd, &sb) < 0 || sb.st_dev == device_of_host_root();
}

static int put_one(int fan, int root, struct st_mark *mark, struct st_error *err)
{
    st_auto_fd fd = st_marks_open(root, mark->mount);
    int rc;

    if (fd == -ESTALE) {
        mark->skip = ST_MARK_COVERED;
        return 0;
    }
    if (fd < 0)
        return st_fail(err, -fd, "open the mount %s: %s", mark->mount->point, strerror(-fd));
    /* The plan said so already; here it is asserted on the very thing that is marked. */
    if (mark->target == ST_FAN_SUPERBLOCK && st_marks_is_hosts(fd))
        return st_fail(err, EINVAL, "refusing to mark the host's own file system (%s)", mark->mount->point);
    rc = st_fan_mark(fan, mark->target, mark->mask, fd);
    if (rc == -EINVAL || rc == -EOPNOTSUPP) {
        mark->skip = "no permission events on this file system";
        return 0;
    }
    return rc < 0 ? st_fail(err, -rc, "watch the mount %s: %s", mark->mount->point, strerror(-rc)) : 0;
}

int st_marks_put(int fan, pid_t pid, struct st_mark_plan *plan, struct st_error *err)
{
    char path[32];
    st_auto_fd root = -1;

    snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return st_fail_errno(err, "open %s", path);
    for (size_t i = 0; i < plan->n; i++)
        if (!plan->list[i].skip && put_one(fan, root, &plan->list[i], err) < 0)
            return -err->errnum;
    return 0;
}
