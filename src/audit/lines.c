/* lines: see lines.h. One buffer; what is left of it moves to its front when more has to be read. */
#include "audit/lines.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_SIZE ((size_t)64 << 10) /* stays in the cache between reading and parsing */

struct st_lines {
    st_read_fn *read;
    void *ctx;
    int fd; /* for st_lines_of_fd */
    char *data;
    size_t size, start, end; /* unread bytes are [start, end) */
    size_t searched;         /* of them, how many are known to hold no newline */
    uint64_t offset, number;
    bool in_piece;
    bool waiting; /* the unfinished line was given out as it is; nothing came since */
};

static ssize_t read_fd(void *ctx, void *out, size_t n, struct st_error *err)
{
    const struct st_lines *l = ctx;
    ssize_t got;

    do
        got = read(l->fd, out, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? st_fail_errno(err, "read") : got;
}

struct st_lines *st_lines_new(st_read_fn *read, void *ctx)
{
    struct st_lines *l = st_xcalloc(1, sizeof(*l));

    l->read = read;
    l->ctx = ctx;
    l->fd = -1;
    l->size = FIRST_SIZE;
    l->data = st_xmalloc(l->size);
    return l;
}

struct st_lines *st_lines_of_fd(int fd)
{
    struct st_lines *l = st_lines_new(read_fd, NULL);

    l->ctx = l;
    l->fd = fd;
    return l;
}

void st_lines_begin_at(struct st_lines *l, uint64_t offset, uint64_t lines)
{
    l->offset = offset;
    l->number = lines;
}

void st_lines_free(struct st_lines *l)
{
    if (!l)
        return;
    free(l->data);
    free(l);
}

void st_lines_freep(struct st_lines **l)
{
    st_lines_free(*l);
    *l = NULL;
}

/* Reads more behind what is there. 1: something came; 0: the end. */
static int fill(struct st_lines *l, struct st_error *err)
{
    ssize_t got;

    if (l->start) {
        memmove(l->data, l->data + l->start, l->end - l->start);
        l->end -= l->start;
        l->start = 0;
    }
    if (l->end == l->size) {
        l->size *= 2;
        l->data = st_xrealloc(l->data, l->size);
    }
    got = l->read(l->ctx, l->data + l->end, l->size - l->end, err);
    if (got < 0)
        return (int)got;
    l->end += (size_t)got;
    if (got > 0)
        l->waiting = false;
    return got > 0;
}

/* Gives out the next len bytes and what follows them (a newline, or nothing). */
static int give(struct st_lines *l, size_t len, bool ended, bool more, struct st_line *out)
{
    *out = (struct st_line){.text = {.p = l->data + l->start, .len = len},
                            .offset = l->offset,
                            .number = l->in_piece ? l->number : l->number + 1,
                            .ended = ended,
                            .more = more,
                            .piece = l->in_piece};
    l->waiting = !ended && !more;
    if (l->waiting) /* unfinished: it stays, in case that the file grows */
        return 1;
    l->number = out->number;
    l->in_piece = more;
    l->start += len + ended;
    l->offset += len + ended;
    l->searched = 0;
    return 1;
}

int st_lines_next(struct st_lines *l, struct st_line *out, struct st_error *err)
{
    for (;;) {
        size_t have = l->end - l->start;
        const char *from = l->data + l->start, *newline;
        int rc;

        newline = have > l->searched ? memchr(from + l->searched, '\n', have - l->searched) : NULL;
        if (newline)
            return give(l, (size_t)(newline - from), true, false, out);
        l->searched = have;
        if (have >= ST_LINES_MAX)
            return give(l, have, false, true, out);
        rc = fill(l, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return !l->waiting && (have || l->in_piece) ? give(l, have, false, false, out) : 0;
    }
}

int st_lines_some(struct st_lines *l, struct st_line *out, int n, struct st_error *err)
{
    int have = st_lines_next(l, out, err);

    while (have > 0 && have < n && out[have - 1].ended) {
        const char *from = l->data + l->start;
        const char *newline = memchr(from, '\n', l->end - l->start);

        if (!newline)
            break;
        give(l, (size_t)(newline - from), true, false, &out[have++]);
    }
    return have;
}

uint64_t st_lines_offset(const struct st_lines *l)
{
    return l->offset;
}
