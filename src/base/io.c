/* io: see io.h. */
#include "base/io.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

int st_read_fd(int fd, size_t max, struct st_buf *b, struct st_error *err)
{
    size_t start = b->len;

    for (;;) {
        size_t room = max - (b->len - start);
        size_t want = room < 65536 ? room + 1 : 65536;
        ssize_t n;

        st_buf_reserve(b, want);
        n = read(fd, b->data + b->len, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return st_fail_errno(err, "read");
        if (n == 0)
            break;
        if ((size_t)n > room)
            return st_fail(err, EFBIG, "larger than the limit of %zu bytes", max);
        b->len += (size_t)n;
    }
    st_buf_add(b, "", 0);
    return 0;
}

static int read_open_file(int fd, const char *path, const struct stat *sb, size_t max, struct st_buf *b,
                          struct st_error *err)
{
    if (!S_ISREG(sb->st_mode))
        return st_fail(err, EINVAL, "%s: not a regular file", path);
    if (sb->st_size > 0 && (size_t)sb->st_size <= max)
        st_buf_reserve(b, (size_t)sb->st_size + 1);
    if (st_read_fd(fd, max, b, err) < 0)
        return st_wrap(err, "%s", path);
    return 0;
}

/* Opened so that neither a terminal nor a pipe nor (unless follow) a symlink can do us harm. */
static int open_to_read(int dirfd, const char *path, bool follow, struct stat *sb, struct st_error *err)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW);
    st_auto_fd fd = openat(dirfd, path, flags);

    if (fd < 0)
        return st_fail_errno(err, "open %s", path);
    if (fstat(fd, sb) < 0)
        return st_fail_errno(err, "stat %s", path);
    return st_steal_fd(&fd);
}

int st_read_file_at(int dirfd, const char *path, bool follow, size_t max, struct st_buf *b,
                    struct st_error *err)
{
    struct stat sb;
    st_auto_fd fd = open_to_read(dirfd, path, follow, &sb, err);

    return fd < 0 ? fd : read_open_file(fd, path, &sb, max, b, err);
}

int st_read_file(const char *path, size_t max, struct st_buf *b, struct st_error *err)
{
    return st_read_file_at(AT_FDCWD, path, true, max, b, err);
}

int st_read_trusted_file(const char *path, size_t max, struct st_buf *b, struct st_error *err)
{
    struct stat sb;
    st_auto_fd fd = open_to_read(AT_FDCWD, path, true, &sb, err);

    if (fd < 0)
        return fd;
    if (sb.st_uid != 0 && sb.st_uid != geteuid())
        return st_fail(err, EPERM, "%s: belongs to uid %u, who could change it; chown root %s", path,
                       (unsigned)sb.st_uid, path);
    if (sb.st_mode & (S_IWGRP | S_IWOTH))
        return st_fail(err, EPERM, "%s: others than its owner may write it (mode %04o); chmod go-w %s", path,
                       (unsigned)(sb.st_mode & 07777), path);
    return read_open_file(fd, path, &sb, max, b, err);
}

/* Without the last newline. */
static ssize_t end_text(char *out, size_t len, size_t size)
{
    if (len == size)
        return -EFBIG;
    if (len && out[len - 1] == '\n')
        len--;
    out[len] = '\0';
    return (ssize_t)len;
}

ssize_t st_read_small_at(int dirfd, const char *path, char *out, size_t size)
{
    st_auto_fd fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    size_t len = 0;

    if (fd < 0)
        return -errno;
    while (len < size) {
        ssize_t n = read(fd, out + len, size - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return end_text(out, len, size);
}

ssize_t st_read_piece_at(int dirfd, const char *path, char *out, size_t size)
{
    st_auto_fd fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t n;

    if (fd < 0)
        return -errno;
    do
        n = read(fd, out, size);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : end_text(out, (size_t)n, size);
}

int st_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

int st_write_small_at(int dirfd, const char *path, const char *text)
{
    st_auto_fd fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return -errno;
    return st_write_all(fd, text, strlen(text));
}

static int fill_new_file(int fd, const struct stat *like, const void *bytes, size_t n, mode_t mode, bool sync)
{
    int rc;

    if (like && fchown(fd, like->st_uid, like->st_gid) < 0)
        return -errno;
    if (fchmod(fd, like ? like->st_mode & 07777 : mode) < 0)
        return -errno;
    rc = st_write_all(fd, bytes, n);
    if (rc < 0)
        return rc;
    if (sync && fsync(fd) < 0)
        return -errno;
    return 0;
}

int st_replace_file_at(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, bool sync,
                       struct st_error *err)
{
    char temp[NAME_MAX + 1];
    struct stat old;
    bool exists = fstatat(dirfd, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    st_auto_fd fd = -1;
    int rc, flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

    if (exists && !S_ISREG(old.st_mode))
        return st_fail(err, EINVAL, "%s: not a regular file", name);
    rc = snprintf(temp, sizeof(temp), ".%s.sandtrace.%d", name, (int)getpid());
    if (rc < 0 || (size_t)rc >= sizeof(temp))
        return st_fail(err, ENAMETOOLONG, "%s: name too long", name);
    fd = openat(dirfd, temp, flags, 0600);
    if (fd < 0 && errno == EEXIST && unlinkat(dirfd, temp, 0) == 0) /* left by one who died with this pid */
        fd = openat(dirfd, temp, flags, 0600);
    if (fd < 0)
        return st_fail_errno(err, "create %s", temp);
    rc = fill_new_file(fd, exists ? &old : NULL, bytes, n, mode, sync);
    if (rc == 0 && renameat(dirfd, temp, dirfd, name) < 0)
        rc = -errno;
    if (rc < 0) {
        unlinkat(dirfd, temp, 0);
        return st_fail(err, -rc, "write %s: %s", name, strerror(-rc));
    }
    if (sync && fsync(dirfd) < 0)
        return st_fail_errno(err, "sync the directory of %s", name);
    return 0;
}

int st_mkdir_p(const char *path, mode_t mode, struct st_error *err)
{
    st_auto_free char *copy = st_xstrdup(path);

    for (char *slash = copy + 1;; slash++) {
        if (*slash != '/' && *slash != '\0')
            continue;
        char kept = *slash;

        *slash = '\0';
        if (mkdir(copy, mode) < 0 && errno != EEXIST)
            return st_fail_errno(err, "make directory %s", copy);
        if (kept == '\0')
            return 0;
        *slash = kept;
    }
}
