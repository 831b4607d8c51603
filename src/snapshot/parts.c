/* parts: see parts.h. */
#include "snapshot/parts.h"

#include "audit/rotated.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define COPY "copy.tmp"
#define CHUNK ((size_t)1 << 30)

static bool is_same(int a_dir, int b_dir, const char *name)
{
    struct stat a, b;

    return fstatat(a_dir, name, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(b_dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static int copy(int from_dir, int to_dir, const char *name, struct st_error *err)
{
    st_auto_fd in = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), out = -1;
    ssize_t n = 1;

    unlinkat(to_dir, COPY, 0);
    out = in < 0 ? -1 : openat(to_dir, COPY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    while (out >= 0 && (n = sendfile(out, in, NULL, CHUNK)) > 0)
        continue;
    if (out < 0 || n < 0 || fsync(out) < 0 || renameat(to_dir, COPY, to_dir, name) < 0)
        return st_fail_errno(err, "copy %s", name);
    return 0;
}

static int keep(int from_dir, int to_dir, const char *name, bool *copied, struct st_error *err)
{
    if (is_same(from_dir, to_dir, name) || linkat(from_dir, name, to_dir, name, 0) == 0)
        return 0;
    if (errno == EEXIST) { /* of an earlier round: the trace was rotated, or it is a copy */
        unlinkat(to_dir, COPY, 0);
        if (linkat(from_dir, name, to_dir, COPY, 0) == 0)
            return renameat(to_dir, COPY, to_dir, name) < 0 ? st_fail_errno(err, "keep %s", name) : 0;
    }
    if (errno == ENOENT)
        return st_fail_errno(err, "keep %s", name);
    *copied = true;
    return copy(from_dir, to_dir, name, err);
}

int st_parts_keep(const char *trace, int dir, bool *copied, struct st_error *err)
{
    const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace;
    st_auto_free char *folder = slash && slash > trace ? st_xstrndup(trace, (size_t)(slash - trace)) : NULL;
    st_auto_fd from = open(folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char part[NAME_MAX + 1];
    unsigned last;

    if (from < 0)
        return st_fail_errno(err, "%s", trace);
    /* In this order: what is rotated meanwhile is there twice, and never not at all. */
    if (keep(from, dir, name, copied, err) < 0 || st_rotated_last(from, name, &last, err) < 0)
        return -err->errnum;
    for (unsigned i = 1; i <= last; i++)
        if (st_rotated_find(from, name, i, part) && keep(from, dir, part, copied, err) < 0 &&
            err->errnum != ENOENT)
            return -err->errnum;
    return 0;
}
