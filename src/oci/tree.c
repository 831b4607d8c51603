/* tree: see tree.h. */
#include "oci/tree.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int open_below(int base, const char *path, uint64_t resolve)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve | RESOLVE_NO_MAGICLINKS};

    while (*path == '/')
        path++;
    return (int)syscall(SYS_openat2, base, *path ? path : ".", &how, sizeof(how));
}

static int open_base(const char *base)
{
    return open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int st_tree_look(const char *base, const char *path)
{
    st_auto_fd root = open_base(base), fd = -1;

    if (root < 0)
        return -errno;
    fd = open_below(root, path, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (fd >= 0)
        return 1;
    return errno == ENOENT ? 0 : -errno;
}

static int path_of(int fd, char *out, size_t size)
{
    char link[32];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, out, size - 1);
    if (n < 0)
        return -errno;
    out[n] = '\0';
    return 0;
}

int st_tree_resolve(const char *base, const char *path, char out[PATH_MAX])
{
    st_auto_fd root = open_base(base), fd = -1;
    char top[PATH_MAX] = "", real[PATH_MAX] = "";
    size_t len;
    int rc;

    if (root < 0)
        return -errno;
    fd = open_below(root, path, RESOLVE_IN_ROOT);
    if (fd < 0)
        return -errno;
    rc = path_of(root, top, sizeof(top));
    if (rc == 0)
        rc = path_of(fd, real, sizeof(real));
    if (rc < 0)
        return rc;
    len = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strncmp(real, top, len) != 0)
        return -EXDEV;
    snprintf(out, PATH_MAX, "%s", real[len] ? real + len : "/");
    return 0;
}

/* The next part of the way, made where it is missing. */
static int step(int dir, const char *name, uid_t uid, gid_t gid)
{
    int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);

    if (fd >= 0 || errno != ENOENT)
        return fd >= 0 ? fd : errno == ENOTDIR ? -ELOOP : -errno;
    if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
        return -errno;
    if (fchownat(dir, name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    fd = openat(dir, name, flags);
    return fd >= 0 ? fd : -errno;
}

int st_tree_make(const char *base, const char *path, uid_t uid, gid_t gid, struct st_error *err)
{
    st_auto_fd at = open_base(base);
    char name[NAME_MAX + 1];

    if (at < 0)
        return st_fail_errno(err, "%s", base);
    while (*path) {
        size_t len;
        int next;

        while (*path == '/')
            path++;
        len = strcspn(path, "/");
        if (len == 0)
            break;
        if (len > NAME_MAX)
            return st_fail(err, ENAMETOOLONG, "%s", path);
        memcpy(name, path, len);
        name[len] = '\0';
        next = step(at, name, uid, gid);
        if (next < 0)
            return st_fail(err, -next, "make the directory %s in %s: %s", name, base, strerror(-next));
        st_close(&at);
        at = next;
        path += len;
    }
    return 0;
}
