/* input: see input.h. */
#include "cli/input.h"

#include "audit/decompress.h"
#include "audit/rotated.h"
#include "audit/verify.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct st_input {
    char *folder; /* with its slash; NULL: standard input */
    char *base;   /* the trace's own name in it */
    char **names; /* of the files that were opened */
    unsigned n;
    unsigned number; /* of the present file; 0: it had none when we opened it */
    bool sealed;     /* it is known that no more comes in it */
    int fd;
    struct st_decompress *unpack; /* NULL: it is plain */
    unsigned char head[ST_MAGIC_SIZE];
    size_t head_len, head_given;
    struct st_lines *lines;
    uint64_t done_before, total;
};

/* How much there is to read, as it is now. */
static void add_up(struct st_input *in, int dirfd, unsigned last)
{
    char name[NAME_MAX + 1];
    struct stat sb;

    for (unsigned i = 1; i <= last; i++)
        if (st_rotated_find(dirfd, in->base, i, name) && fstatat(dirfd, name, &sb, 0) == 0)
            in->total += (uint64_t)sb.st_size;
    if (fstatat(dirfd, in->base, &sb, 0) == 0 && S_ISREG(sb.st_mode))
        in->total += (uint64_t)sb.st_size;
}

static ssize_t read_raw(int fd, void *out, size_t n, struct st_error *err)
{
    ssize_t got;

    do
        got = read(fd, out, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? st_fail_errno(err, "read") : got;
}

/* What was looked at to see whether it is compressed comes first. */
static ssize_t read_file(void *ctx, void *out, size_t n, struct st_error *err)
{
    struct st_input *in = ctx;
    size_t left = in->head_len - in->head_given;

    if (in->unpack)
        return st_decompress_read(in->unpack, out, n, err);
    if (left) {
        if (n > left)
            n = left;
        memcpy(out, in->head + in->head_given, n);
        in->head_given += n;
        return (ssize_t)n;
    }
    return read_raw(in->fd, out, n, err);
}

static int look_at_head(struct st_input *in, struct st_error *err)
{
    in->head_len = in->head_given = 0;
    while (in->head_len < ST_MAGIC_SIZE) {
        ssize_t got = read_raw(in->fd, in->head + in->head_len, ST_MAGIC_SIZE - in->head_len, err);

        if (got < 0)
            return (int)got;
        if (got == 0)
            break;
        in->head_len += (size_t)got;
    }
    if (!st_is_compressed(in->head, in->head_len))
        return 0;
    return st_decompress_start(in->fd, in->head, in->head_len, &in->unpack, err);
}

/* Takes fd, which was opened as name (owned) and has this number in the set. */
static int start_file(struct st_input *in, int fd, char *name, unsigned number, struct st_error *err)
{
    int rc;

    in->names = st_xrealloc(in->names, (in->n + 1) * sizeof(*in->names));
    in->names[in->n++] = name;
    in->number = number;
    in->sealed = number != 0;
    in->fd = fd;
    rc = look_at_head(in, err);
    if (rc < 0)
        return st_wrap(err, "%s", name);
    in->lines = st_lines_new(read_file, in);
    return 0;
}

static void end_file(struct st_input *in)
{
    uint64_t done, total;

    st_input_progress(in, &done, &total);
    in->done_before = done;
    st_lines_freep(&in->lines);
    st_decompress_freep(&in->unpack);
    st_close(&in->fd);
}

/* The file with the lowest number above `above`, or the one without a number. 1: there is one. */
static int next_file(struct st_input *in, unsigned above, struct st_error *err)
{
    st_auto_fd dirfd = open(in->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[NAME_MAX + 1];
    unsigned last = 0;
    int fd, rc = dirfd < 0 ? 0 : st_rotated_last(dirfd, in->base, &last, err);

    if (rc < 0)
        return rc;
    if (in->n == 0 && dirfd >= 0)
        add_up(in, dirfd, last);
    for (unsigned i = above + 1; i <= last; i++)
        if (st_rotated_find(dirfd, in->base, i, name)) {
            fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
            if (fd < 0)
                return st_fail_errno(err, "open %s%s", in->folder, name);
            if (in->n)
                end_file(in);
            rc = start_file(in, fd, st_xasprintf("%s%s", in->folder, name), i, err);
            return rc < 0 ? rc : 1;
        }
    st_auto_free char *path = st_xasprintf("%s%s", in->folder, in->base);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && errno == ENOENT &&
        in->n) /* between two files there may be none of the plain name for a moment */
        return 0;
    if (fd < 0)
        return st_fail_errno(err, "open %s", path);
    if (in->n)
        end_file(in);
    rc = start_file(in, fd, st_steal_ptr(&path), 0, err);
    return rc < 0 ? rc : 1;
}

int st_input_open(const char *file, struct st_input **out, struct st_error *err)
{
    st_auto_input in = st_xcalloc(1, sizeof(*in));
    const char *slash = strrchr(file, '/');
    int rc;

    in->fd = -1;
    if (strcmp(file, "-") == 0) {
        rc = start_file(in, dup(STDIN_FILENO), st_xstrdup("standard input"), 0, err);
    } else {
        in->folder = slash ? st_xstrndup(file, (size_t)(slash - file) + 1) : st_xstrdup("./");
        in->base = st_xstrdup(slash ? slash + 1 : file);
        rc = next_file(in, 0, err);
    }
    if (rc < 0)
        return rc;
    *out = st_steal_ptr(&in);
    return 0;
}

void st_input_free(struct st_input *in)
{
    if (!in)
        return;
    end_file(in);
    for (unsigned i = 0; i < in->n; i++)
        free(in->names[i]);
    free(in->names);
    free(in->folder);
    free(in->base);
    free(in);
}

void st_input_freep(struct st_input **in)
{
    st_input_free(*in);
    *in = NULL;
}

int st_input_line(struct st_input *in, struct st_line *out, struct st_error *err)
{
    return st_input_lines(in, out, 1, err);
}

/* Has the file that had no number got one since? Then no more comes in it; its number is what we go on from.
 */
static bool was_sealed(struct st_input *in, struct st_error *err)
{
    st_auto_fd dirfd = in->folder ? open(in->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    char name[NAME_MAX + 1];
    struct stat ours, sb;
    unsigned last = 0;

    if (dirfd < 0 || fstat(in->fd, &ours) < 0 ||
        (fstatat(dirfd, in->base, &sb, 0) == 0 && sb.st_dev == ours.st_dev && sb.st_ino == ours.st_ino) ||
        st_rotated_last(dirfd, in->base, &last, err) < 0)
        return false;
    for (unsigned i = last; i > 0; i--)
        if (st_rotated_find(dirfd, in->base, i, name) && fstatat(dirfd, name, &sb, 0) == 0 &&
            sb.st_dev == ours.st_dev && sb.st_ino == ours.st_ino) {
            in->number = i;
            in->sealed = true;
        }
    return in->sealed;
}

int st_input_lines(struct st_input *in, struct st_line *out, int n, struct st_error *err)
{
    for (;;) {
        int rc = st_lines_some(in->lines, out, n, err);

        if (rc < 0)
            return st_wrap(err, "%s", in->names[in->n - 1]);
        if (rc > 0)
            return rc;
        if (!in->sealed) {
            if (!was_sealed(in, err))
                return 0;
            continue; /* something may have come before it was renamed */
        }
        rc = next_file(in, in->number, err);
        if (rc <= 0)
            return rc;
    }
}

unsigned st_input_files(const struct st_input *in)
{
    return in->n;
}

const char *st_input_name(const struct st_input *in, unsigned n)
{
    return in->names[n];
}

void st_input_progress(const struct st_input *in, uint64_t *done, uint64_t *total)
{
    off_t at = in->fd >= 0 ? lseek(in->fd, 0, SEEK_CUR) : -1;

    *total = in->total;
    *done = in->done_before + (at > 0 ? (uint64_t)at : 0);
}

void st_input_show_progress(const struct st_input *in, struct st_progress *p, uint64_t records)
{
    uint64_t done, total;

    if (!st_progress_due(p))
        return;
    st_input_progress(in, &done, &total);
    st_progress_show(p, done, total, records);
}

bool st_input_being_written(const struct st_input *in)
{
    st_auto_free char *path = in->folder ? st_xasprintf("%s%s", in->folder, in->base) : NULL;
    st_auto_fd fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;

    return fd >= 0 && st_trace_is_being_written(fd);
}

bool st_input_can_grow(const struct st_input *in)
{
    return in->folder && !(in->unpack && !in->sealed);
}
