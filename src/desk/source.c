/* source: see source.h. */
#include "desk/source.h"

#include "audit/decompress.h"
#include "audit/rotated.h"
#include "audit/verify.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct st_source {
    int dirfd; /* borrowed */
    char *name;
    uint64_t file;
    bool sealed; /* it has a number: no more comes in it */
    int fd;
    struct st_decompress *unpack;
    unsigned char head[ST_MAGIC_SIZE];
    size_t head_len, head_given;
    struct st_lines *lines;
    uint64_t given; /* whole lines of the present file, those before the place too */
};

static ssize_t read_raw(int fd, void *out, size_t n, struct st_error *err)
{
    ssize_t got;

    do
        got = read(fd, out, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? st_fail_errno(err, "read") : got;
}

static ssize_t read_on(void *ctx, void *out, size_t n, struct st_error *err)
{
    struct st_source *s = ctx;
    size_t left = s->head_len - s->head_given;

    if (s->unpack)
        return st_decompress_read(s->unpack, out, n, err);
    if (left) {
        if (n > left)
            n = left;
        memcpy(out, s->head + s->head_given, n);
        s->head_given += n;
        return (ssize_t)n;
    }
    return read_raw(s->fd, out, n, err);
}

static void close_file(struct st_source *s)
{
    st_lines_freep(&s->lines);
    st_decompress_freep(&s->unpack);
    st_close(&s->fd);
    s->head_len = s->head_given = 0;
}

/* Only regular files are traces: a FIFO would keep us for ever. */
static int open_name(struct st_source *s, const char *name, struct st_error *err)
{
    struct stat sb;

    s->fd = openat(s->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    if (s->fd < 0)
        return errno == ENOENT ? 0 : st_fail_errno(err, "open %s", name);
    if (fstat(s->fd, &sb) < 0 || !S_ISREG(sb.st_mode)) {
        st_close(&s->fd);
        return st_fail(err, EINVAL, "%s: not a regular file", name);
    }
    return 1;
}

/* Only a file with a number is looked at for compression: nobody compresses what is being written. */
static int look_at_head(struct st_source *s, struct st_error *err)
{
    while (s->sealed && s->head_len < ST_MAGIC_SIZE) {
        ssize_t got = read_raw(s->fd, s->head + s->head_len, ST_MAGIC_SIZE - s->head_len, err);

        if (got < 0)
            return (int)got;
        if (got == 0)
            break;
        s->head_len += (size_t)got;
    }
    if (!st_is_compressed(s->head, s->head_len))
        return 0;
    return st_decompress_start(s->fd, s->head, s->head_len, &s->unpack, err);
}

/* The file with this ordinal, else the first one after it. 1: open. */
static int open_file(struct st_source *s, uint64_t file, struct st_error *err)
{
    char name[NAME_MAX + 1];
    unsigned last = 0;
    int rc = st_rotated_last(s->dirfd, s->name, &last, err);

    if (rc < 0)
        return rc;
    for (s->file = file; s->file <= last; s->file++)
        if (st_rotated_find(s->dirfd, s->name, (unsigned)s->file, name))
            break;
    s->sealed = s->file <= last;
    rc = open_name(s, s->sealed ? name : s->name, err);
    if (rc <= 0)
        return rc;
    rc = look_at_head(s, err);
    return rc < 0 ? rc : 1;
}

/* Passes over n bytes. 0: there were so many. */
static int skip(struct st_source *s, uint64_t n, struct st_error *err)
{
    char block[65536];

    if (!s->unpack && n >= s->head_len) {
        s->head_given = s->head_len;
        return lseek(s->fd, (off_t)n, SEEK_SET) < 0 ? st_fail_errno(err, "seek") : 0;
    }
    while (n) {
        ssize_t got = read_on(s, block, n < sizeof(block) ? (size_t)n : sizeof(block), err);

        if (got < 0)
            return (int)got;
        if (got == 0)
            return st_fail(err, ESTALE, "%s: it has become shorter", s->name);
        n -= (uint64_t)got;
    }
    return 0;
}

/* Does the next line have this hash? */
static int check_last(struct st_source *s, const struct st_source_place *at, struct st_error *err)
{
    st_auto_free char *line = st_xmalloc(at->last_len);
    unsigned char digest[ST_SHA256_SIZE];
    char hex[ST_SHA256_HEX + 1];
    size_t have = 0;

    while (have < at->last_len) {
        ssize_t got = read_on(s, line + have, at->last_len - have, err);

        if (got < 0)
            return (int)got;
        if (got == 0)
            return st_fail(err, ESTALE, "%s: it has become shorter", s->name);
        have += (size_t)got;
    }
    st_sha256(line, have, digest);
    st_hex(digest, sizeof(digest), hex);
    return strcmp(hex, at->last_sha256) == 0 ? 0 : st_fail(err, ESTALE, "%s: it is another file", s->name);
}

/* To the place, by way of the line before it; then back to where lines are wanted from. */
static int go_to(struct st_source *s, const struct st_source_place *at, struct st_error *err)
{
    int rc = 0;

    if (at->last_len) {
        rc = skip(s, at->offset - at->last_len, err);
        if (rc == 0)
            rc = check_last(s, at, err);
    }
    if (rc < 0 || at->from == at->offset)
        return rc;
    close_file(s);
    rc = open_file(s, at->file, err);
    if (rc <= 0 || s->file != at->file)
        return rc < 0 ? rc : st_fail(err, ESTALE, "%s: it is gone", s->name);
    return skip(s, at->from, err);
}

int st_source_open(int dirfd, const char *name, const struct st_source_place *at, struct st_source **out,
                   struct st_error *err)
{
    st_auto_source s = st_xcalloc(1, sizeof(*s));
    int rc;

    s->dirfd = dirfd;
    s->name = st_xstrdup(name);
    s->fd = -1;
    rc = open_file(s, at->file, err);
    if (rc <= 0)
        return rc;
    if (s->file == at->file) {
        rc = go_to(s, at, err);
        if (rc < 0)
            return rc;
    }
    s->lines = st_lines_new(read_on, s);
    if (s->file == at->file) {
        st_lines_begin_at(s->lines, at->from, at->line);
        s->given = at->line;
    }
    *out = st_steal_ptr(&s);
    return 1;
}

void st_source_free(struct st_source *s)
{
    if (!s)
        return;
    close_file(s);
    free(s->name);
    free(s);
}

void st_source_freep(struct st_source **s)
{
    st_source_free(*s);
    *s = NULL;
}

uint64_t st_source_file(const struct st_source *s)
{
    return s->file;
}

/* Has the file that had no number got one since? Something may have come before it was renamed. */
static bool was_sealed(struct st_source *s)
{
    char name[NAME_MAX + 1];

    s->sealed = s->sealed || st_rotated_find(s->dirfd, s->name, (unsigned)s->file, name);
    return s->sealed;
}

int st_source_lines(struct st_source *s, struct st_line *out, int n, bool *unfinished, struct st_error *err)
{
    int rc = st_lines_some(s->lines, out, n, err);

    *unfinished = false;
    for (int i = 0; i < rc; i++)
        s->given = out[i].ended ? out[i].number : s->given;
    if (rc <= 0)
        return rc < 0 ? st_wrap(err, "%s", s->name) : 0;
    if (out[rc - 1].ended || out[rc - 1].more || s->sealed)
        return rc;
    *unfinished = true;
    return rc - 1;
}

/* What is behind the last whole line is read once more. */
static int read_end_again(struct st_source *s, struct st_error *err)
{
    uint64_t offset = st_lines_offset(s->lines);

    if (lseek(s->fd, (off_t)offset, SEEK_SET) < 0)
        return st_fail_errno(err, "seek in %s", s->name);
    st_lines_freep(&s->lines);
    s->lines = st_lines_new(read_on, s);
    st_lines_begin_at(s->lines, offset, s->given);
    return 1;
}

int st_source_next(struct st_source *s, struct st_error *err)
{
    bool before = s->sealed;
    uint64_t file = s->file;
    int rc;

    if (!was_sealed(s))
        return 0;
    if (!before)
        return read_end_again(s, err);
    s->given = 0;
    close_file(s);
    rc = open_file(s, file + 1, err);
    if (rc <= 0)
        return rc;
    s->lines = st_lines_new(read_on, s);
    return 1;
}

bool st_source_being_written(int dirfd, const char *name)
{
    st_auto_fd fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);

    return fd >= 0 && st_trace_is_being_written(fd);
}
