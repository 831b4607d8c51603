/* calls: see calls.h. Raw syscalls, so that no library chooses another form. */
#include "calls.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif
#define EMPTY AT_EMPTY_PATH

/* The last component: what the forms with a directory's fd take. */
static const char *base(const struct attempt *a)
{
    return strrchr(a->path, '/') + 1;
}

static const char *other(const struct attempt *a)
{
    static char room[4096];

    snprintf(room, sizeof(room), "%s.other", a->path);
    return room;
}

static const char *other_base(const struct attempt *a)
{
    return strrchr(other(a), '/') + 1;
}

static long done(long fd)
{
    if (fd >= 0)
        close((int)fd);
    return fd;
}

#define CALL(name, ...)                                                                                      \
    static long do_##name(const struct attempt *a)                                                           \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }

CALL(open_wronly, done(syscall(SYS_open, a->path, O_WRONLY)))
CALL(open_rdwr, done(syscall(SYS_open, a->path, O_RDWR | O_APPEND)))
CALL(open_trunc, done(syscall(SYS_open, a->path, O_RDONLY | O_TRUNC)))
CALL(open_creat, done(syscall(SYS_open, a->path, O_RDONLY | O_CREAT, 0644)))
CALL(open_excl, done(syscall(SYS_open, a->path, O_WRONLY | O_CREAT | O_EXCL, 0644)))
CALL(open_tmpfile, done(syscall(SYS_open, a->dir, O_TMPFILE | O_RDWR, 0644)))
CALL(openat_wronly, done(syscall(SYS_openat, a->dirfd, base(a), O_WRONLY)))
CALL(openat_trunc, done(syscall(SYS_openat, a->dirfd, base(a), O_WRONLY | O_TRUNC)))
CALL(openat_creat, done(syscall(SYS_openat, a->dirfd, base(a), O_WRONLY | O_CREAT, 0644)))
CALL(creat, done(syscall(SYS_creat, a->path, 0644)))
CALL(truncate, syscall(SYS_truncate, a->path, 1))
CALL(ftruncate, syscall(SYS_ftruncate, a->fd, 1))
CALL(unlink, syscall(SYS_unlink, a->path))
CALL(unlinkat, syscall(SYS_unlinkat, a->dirfd, base(a), 0))
CALL(rmdir, syscall(SYS_rmdir, a->path))
CALL(unlinkat_dir, syscall(SYS_unlinkat, a->dirfd, base(a), AT_REMOVEDIR))
CALL(rename, syscall(SYS_rename, a->path, other(a)))
CALL(renameat, syscall(SYS_renameat, a->dirfd, base(a), a->dirfd, other_base(a)))
CALL(renameat2, syscall(SYS_renameat2, a->dirfd, base(a), a->dirfd, other_base(a), RENAME_NOREPLACE))
CALL(rename_exchange, syscall(SYS_renameat2, a->dirfd, base(a), a->dirfd, LINK_NAME, RENAME_EXCHANGE))
CALL(link, syscall(SYS_link, a->path, other(a)))
CALL(linkat, syscall(SYS_linkat, a->dirfd, base(a), a->dirfd, other_base(a), 0))
CALL(symlink, syscall(SYS_symlink, "anywhere", a->path))
CALL(symlinkat, syscall(SYS_symlinkat, "anywhere", a->dirfd, base(a)))
CALL(mkdir, syscall(SYS_mkdir, a->path, 0755))
CALL(mkdirat, syscall(SYS_mkdirat, a->dirfd, base(a), 0755))
CALL(mknod, syscall(SYS_mknod, a->path, S_IFIFO | 0644, 0))
CALL(mknodat, syscall(SYS_mknodat, a->dirfd, base(a), S_IFREG | 0644, 0))
CALL(chmod, syscall(SYS_chmod, a->path, 0600))
CALL(chmod_by_link, syscall(SYS_chmod, a->path, 0600))
CALL(fchmod, syscall(SYS_fchmod, a->fd, 0600))
CALL(fchmodat, syscall(SYS_fchmodat, a->dirfd, base(a), 0600))
CALL(fchmodat2, syscall(SYS_fchmodat2, a->dirfd, base(a), 0600, 0))
CALL(chown, syscall(SYS_chown, a->path, 0, 0))
CALL(lchown, syscall(SYS_lchown, a->path, 0, 0))
CALL(fchown, syscall(SYS_fchown, a->fd, 0, 0))
CALL(fchownat, syscall(SYS_fchownat, a->dirfd, base(a), 0, 0, AT_SYMLINK_NOFOLLOW))
CALL(fchownat_empty, syscall(SYS_fchownat, a->fd, "", 0, 0, EMPTY))
CALL(utime, syscall(SYS_utime, a->path, &(struct utimbuf){1, 1}))
CALL(utimes, syscall(SYS_utimes, a->path, (struct timeval[2]){{1, 1}, {1, 1}}))
CALL(futimesat, syscall(SYS_futimesat, a->dirfd, base(a), (struct timeval[2]){{1, 1}, {1, 1}}))
CALL(utimensat, syscall(SYS_utimensat, a->dirfd, base(a), (struct timespec[2]){{1, 1}, {1, 1}}, 0))
CALL(futimens, syscall(SYS_utimensat, a->fd, NULL, (struct timespec[2]){{1, 1}, {1, 1}}, 0))
CALL(setxattr, syscall(SYS_setxattr, a->path, "user.a", "1", 1, 0))
CALL(lsetxattr, syscall(SYS_lsetxattr, a->path, "user.a", "1", 1, 0))
CALL(fsetxattr, syscall(SYS_fsetxattr, a->fd, "user.a", "1", 1, 0))
CALL(removexattr, syscall(SYS_removexattr, a->path, "user.gone"))
CALL(lremovexattr, syscall(SYS_lremovexattr, a->path, "user.gone2"))
CALL(fremovexattr, syscall(SYS_fremovexattr, a->fd, "user.gone3"))

static long do_setxattrat(const struct attempt *a)
{
    struct {
        unsigned long value;
        unsigned size, flags;
    } args = {(unsigned long)"1", 1, 0};

    return syscall(SYS_setxattrat, a->dirfd, base(a), 0, "user.b", &args, sizeof(args));
}

static long do_openat2(const struct attempt *a)
{
    struct open_how how = {.flags = O_WRONLY};

    return done(syscall(SYS_openat2, a->dirfd, base(a), &how, sizeof(how)));
}

static long do_bind(const struct attempt *a)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    long rc;

    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", a->path);
    rc = syscall(SYS_bind, s, &addr, sizeof(addr));
    close(s);
    return rc;
}

#define ROW(name, on)                                                                                        \
    {                                                                                                        \
#name, on, do_##name                                                                                 \
    }

const struct call calls[] = {
    ROW(open_wronly, FILE_NAME),
    ROW(open_rdwr, FILE_NAME),
    ROW(open_trunc, FILE_NAME),
    ROW(open_creat, NEW_NAME),
    ROW(open_excl, NEW_NAME),
    ROW(open_tmpfile, FILE_NAME),
    ROW(openat_wronly, FILE_NAME),
    ROW(openat_trunc, FILE_NAME),
    ROW(openat_creat, NEW_NAME),
    ROW(creat, NEW_NAME),
    ROW(openat2, FILE_NAME),
    ROW(truncate, FILE_NAME),
    ROW(ftruncate, FILE_NAME),
    ROW(rename, FILE_NAME),
    ROW(renameat, FILE_NAME),
    ROW(renameat2, FILE_NAME),
    ROW(rename_exchange, FILE_NAME),
    ROW(link, FILE_NAME),
    ROW(linkat, FILE_NAME),
    ROW(symlink, NEW_NAME),
    ROW(symlinkat, NEW_NAME),
    ROW(mkdir, NEW_NAME),
    ROW(mkdirat, NEW_NAME),
    ROW(mknod, NEW_NAME),
    ROW(mknodat, NEW_NAME),
    ROW(chmod, FILE_NAME),
    ROW(chmod_by_link, LINK_NAME),
    ROW(fchmod, FILE_NAME),
    ROW(fchmodat, FILE_NAME),
    ROW(fchmodat2, FILE_NAME),
    ROW(chown, FILE_NAME),
    ROW(lchown, LINK_NAME),
    ROW(fchown, FILE_NAME),
    ROW(fchownat, LINK_NAME),
    ROW(fchownat_empty, FILE_NAME),
    ROW(utime, FILE_NAME),
    ROW(utimes, FILE_NAME),
    ROW(futimesat, FILE_NAME),
    ROW(utimensat, FILE_NAME),
    ROW(futimens, FILE_NAME),
    ROW(setxattr, FILE_NAME),
    ROW(lsetxattr, FILE_NAME),
    ROW(fsetxattr, FILE_NAME),
    ROW(setxattrat, FILE_NAME),
    ROW(removexattr, FILE_NAME),
    ROW(lremovexattr, FILE_NAME),
    ROW(fremovexattr, FILE_NAME),
    ROW(bind, NEW_NAME),
    ROW(unlink, FILE_NAME),
    ROW(unlinkat, FILE_NAME),
    ROW(rmdir, EMPTY_NAME),
    ROW(unlinkat_dir, EMPTY_NAME),
    {NULL, NULL, NULL},
};
