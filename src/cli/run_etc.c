/* run_etc: see run_etc.h. */
#include "cli/run_etc.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define FILE_MAX ((off_t)16 << 20)
#define TREE_MAX ((off_t)256 << 20)
#define DEPTH_MAX 32
#define RESOLV_MAX 65536

struct copy {
    off_t bytes; /* so far */
    size_t left_out;
    struct st_error *err;
};

static int copy_dir(struct copy *c, int from, int to, int depth);

/* chown and chmod come last: what is open for us stays so. */
static int give(int fd, const struct stat *sb)
{
    if (fchown(fd, sb->st_uid, sb->st_gid) < 0)
        return -1;
    return fchmod(fd, sb->st_mode & 01777);
}

static bool copy_bytes(int in, int out, off_t size)
{
    off_t at = 0;

    while (at < size) {
        ssize_t n = sendfile(out, in, &at, (size_t)(size - at));

        if (n < 0 && errno != EINTR)
            return false;
        if (n == 0)
            break; /* it has become shorter */
    }
    return true;
}

static int copy_file(struct copy *c, int from, int to, const char *name, const struct stat *seen)
{
    bool open_to_all = seen->st_mode & S_IROTH;
    st_auto_fd in = -1, out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat sb = *seen;

    if (out < 0)
        return st_fail_errno(c->err, "make …/%s", name);
    if (open_to_all && (seen->st_size > FILE_MAX || c->bytes + seen->st_size > TREE_MAX)) {
        c->left_out++;
        open_to_all = false;
    }
    if (open_to_all) {
        in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        /* Looked at again: it may have been closed to others, or replaced, in between. */
        if (in >= 0 && fstat(in, &sb) == 0 && S_ISREG(sb.st_mode) && (sb.st_mode & S_IROTH)) {
            c->bytes += sb.st_size;
            if (!copy_bytes(in, out, sb.st_size))
                return st_fail_errno(c->err, "copy …/%s", name);
        }
    }
    return give(out, &sb) < 0 ? st_fail_errno(c->err, "make …/%s", name) : 0;
}

static int copy_link(struct copy *c, int from, int to, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

    if (n < 0)
        return 0; /* gone meanwhile */
    target[n] = '\0';
    return symlinkat(target, to, name) < 0 ? st_fail_errno(c->err, "make …/%s", name) : 0;
}

/* One that not everybody may enter and list stays empty. */
static int copy_subdir(struct copy *c, int from, int to, const char *name, const struct stat *seen, int depth)
{
    const mode_t open_to_all = S_IROTH | S_IXOTH;
    st_auto_fd in = -1, out = -1;
    struct stat sb = *seen;
    int rc = 0;

    if (mkdirat(to, name, 0700) < 0)
        return st_fail_errno(c->err, "make …/%s", name);
    out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (out < 0)
        return st_fail_errno(c->err, "make …/%s", name);
    in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (in >= 0 && fstat(in, &sb) == 0 && (sb.st_mode & open_to_all) == open_to_all && depth < DEPTH_MAX)
        rc = copy_dir(c, in, out, depth + 1);
    if (rc == 0 && give(out, &sb) < 0)
        rc = st_fail_errno(c->err, "make …/%s", name);
    return rc;
}

static int copy_entry(struct copy *c, int from, int to, const char *name, int depth)
{
    struct stat sb;

    if (fstatat(from, name, &sb, AT_SYMLINK_NOFOLLOW) < 0)
        return 0; /* gone meanwhile */
    switch (sb.st_mode & S_IFMT) {
    case S_IFREG: return copy_file(c, from, to, name, &sb);
    case S_IFLNK: return copy_link(c, from, to, name);
    case S_IFDIR: return copy_subdir(c, from, to, name, &sb, depth);
    default: return 0; /* sockets, pipes and devices are of those who made them */
    }
}

static int copy_dir(struct copy *c, int from, int to, int depth)
{
    int copy = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_dir dir = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;

    if (!dir) {
        st_close(&copy);
        return st_fail_errno(c->err, "read a directory");
    }
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            copy_entry(c, from, to, entry->d_name, depth) < 0)
            return -c->err->errnum;
    return 0;
}

int st_run_copy_etc(const char *from, const char *to, size_t *left_out, struct st_error *err)
{
    struct copy c = {.err = err};
    st_auto_fd in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_fd out = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc;

    if (in < 0 || out < 0)
        return st_fail_errno(err, "copy %s", from);
    rc = copy_dir(&c, in, out, 0);
    *left_out += c.left_out;
    return rc < 0 ? st_wrap(err, "a copy of %s", from) : 0;
}

/* ---- the container's own ---- */

static int write_file(int dir, const char *name, const char *text, struct st_error *err)
{
    unlinkat(dir, name, 0); /* a link, on many hosts */
    return st_replace_file_at(dir, name, text, strlen(text), 0644, false, err);
}

int st_run_write_etc(const char *to, enum st_run_network network, struct st_error *err)
{
    st_auto_fd dir = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    st_auto_buf resolv = ST_BUF_INIT;

    if (dir < 0)
        return st_fail_errno(err, "%s", to);
    if (network == ST_RUN_NET_USER)
        st_buf_adds(&resolv, "nameserver " ST_RUN_RESOLVER "\n");
    else if (network == ST_RUN_NET_HOST)
        (void)st_read_file("/etc/resolv.conf", RESOLV_MAX, &resolv, NULL); /* a host may have none */
    if (write_file(dir, "hosts",
                   "127.0.0.1\tlocalhost sandtrace\n::1\tlocalhost ip6-localhost ip6-loopback\n", err) < 0 ||
        write_file(dir, "hostname", "sandtrace\n", err) < 0 ||
        write_file(dir, "resolv.conf", st_buf_cstr(&resolv), err) < 0)
        return -err->errnum;
    return 0;
}
