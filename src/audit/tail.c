/* tail: see tail.h. */
#include "audit/tail.h"

#include "audit/link.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <sys/stat.h>

#define MARK "\"event_type\":\"checkpoint\""
#define MARK_LEN (sizeof(MARK) - 1)
#define FIRST_STEP ((size_t)4096)
#define STEP ((size_t)65536)

/* A file without a single record that stands is gone on with only if it may be the first write, torn. */
#define FIRST_WRITE_MAX (2 * ST_RECORD_MAX)

static int read_at(int fd, char *out, size_t n, uint64_t offset, struct st_error *err)
{
    while (n) {
        ssize_t got = pread(fd, out, n, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return st_fail_errno(err, "read the end of the trace");
        if (got == 0)
            return st_fail(err, EIO, "the trace became shorter while it was read");
        out += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return 0;
}

/* Reads of an fd by offset, for st_lines. */
struct reader {
    int fd;
    uint64_t at, end;
};

static ssize_t read_on(void *ctx, void *out, size_t n, struct st_error *err)
{
    struct reader *r = ctx;
    int rc;

    if (n > r->end - r->at)
        n = (size_t)(r->end - r->at);
    rc = read_at(r->fd, out, n, r->at, err);
    if (rc < 0)
        return rc;
    r->at += n;
    return (ssize_t)n;
}

static const char *last_mark(const char *data, size_t len)
{
    const char *found = NULL, *p = data;

    while ((p = memmem(p, len - (size_t)(p - data), MARK, MARK_LEN)))
        found = p++;
    return found;
}

/* Offset of the line that holds the byte at offset; 0 where it is the first. */
static int line_start(int fd, uint64_t offset, uint64_t *start, struct st_error *err)
{
    char block[FIRST_STEP];

    while (offset) {
        size_t step = offset < sizeof(block) ? (size_t)offset : sizeof(block);
        int rc = read_at(fd, block, step, offset - step, err);
        const char *newline = rc == 0 ? memrchr(block, '\n', step) : NULL;

        if (rc < 0)
            return rc;
        if (newline) {
            *start = offset - step + (uint64_t)(newline + 1 - block);
            return 0;
        }
        offset -= step;
    }
    *start = 0;
    return 0;
}

/* A walk from one record to the next. Records behind a tear count where one of them declares it. */
struct walk {
    struct st_link *link;
    uint64_t good;      /* behind the last record that stands */
    bool first;         /* it may follow anything */
    bool is_checkpoint; /* the first */
    bool tear;          /* something since then does not stand */
    bool open;          /* the last record that stands lacks its newline */
    struct st_torn_sum sum;
};

static bool stands(struct walk *w, const struct st_frame *f, uint64_t offset)
{
    unsigned char digest[ST_SHA256_SIZE];
    struct st_torn torn;

    if (f->dialect != ST_DIALECT_CURRENT)
        return false;
    st_frame_hash(f, digest);
    if (!st_frame_states(f, digest))
        return false;
    if (!w->first && (f->seq != w->link->seq + 1 || !st_link_followed(w->link, f)))
        return false;
    return !w->tear || (st_torn_read(f, &torn) && st_torn_matches(&torn, &w->sum, offset));
}

/* A record that lacks nothing but its newline stands: the writer will add it. */
static void step(struct walk *w, const struct st_line *line, uint64_t offset, struct st_buf *scratch)
{
    struct st_frame f;
    const char *why;

    if (!line->more && !line->piece && st_frame_read(line->text, scratch, &f, &why) == ST_FRAME_OK &&
        stands(w, &f, offset)) {
        if (w->first)
            w->is_checkpoint = st_scan_is(f.event_type, "checkpoint");
        st_link_take(w->link, &f);
        w->good = offset + line->text.len + line->ended;
        w->first = w->tear = false;
        w->open = !line->ended;
        return;
    }
    if (!w->tear)
        st_torn_sum_begin(&w->sum, offset);
    w->tear = true;
    st_torn_sum_add(&w->sum, line);
}

static int walk(int fd, uint64_t from, struct st_tail *out, struct walk *w, struct st_error *err)
{
    struct reader reader = {.fd = fd, .at = from, .end = out->size};
    st_auto_lines lines = st_lines_new(read_on, &reader);
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_line line;
    int rc;

    out->link = (struct st_link){0};
    *w = (struct walk){.link = &out->link, .good = from, .first = true};
    while ((rc = st_lines_next(lines, &line, err)) > 0)
        step(w, &line, from + line.offset, &scratch);
    return rc;
}

/* Walks from the last checkpoint, or from the beginning where there is none. */
static int find_good(int fd, struct st_tail *out, struct walk *w, struct st_error *err)
{
    st_auto_free char *block = st_xmalloc(STEP + MARK_LEN);
    uint64_t end = out->size;
    size_t size = FIRST_STEP;
    int rc = 0;

    while (rc == 0 && end) {
        size_t n = end < size ? (size_t)end : size;
        uint64_t from = end - n, start;
        size_t overlap = out->size - end < MARK_LEN - 1 ? (size_t)(out->size - end) : MARK_LEN - 1;
        const char *mark;

        rc = read_at(fd, block, n + overlap, from, err);
        mark = rc == 0 ? last_mark(block, n + overlap) : NULL;
        if (!mark) {
            end = from;
            size = STEP;
            continue;
        }
        rc = line_start(fd, from + (uint64_t)(mark - block), &start, err);
        if (rc == 0)
            rc = walk(fd, start, out, w, err);
        if (rc == 0 && !w->first && w->is_checkpoint)
            return 0;
        end = from + (uint64_t)(mark - block); /* no checkpoint after all: look further up */
    }
    return rc < 0 ? rc : walk(fd, 0, out, w, err);
}

static int sum_torn(int fd, struct st_tail *out, uint64_t from, struct st_error *err)
{
    st_auto_free char *block = st_xmalloc(STEP);
    unsigned char digest[ST_SHA256_SIZE];
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    for (uint64_t at = from; at < out->size;) {
        size_t n = out->size - at < STEP ? (size_t)(out->size - at) : STEP;
        int rc = read_at(fd, block, n, at, err);

        if (rc < 0)
            return rc;
        sha256_update(&ctx, n, (const uint8_t *)block);
        out->needs_newline = block[n - 1] != '\n';
        at += n;
    }
    sha256_digest(&ctx, sizeof(digest), digest);
    st_hex(digest, sizeof(digest), out->torn.sha256);
    out->torn.offset = from;
    out->torn.length = out->size - from;
    return 0;
}

int st_tail_read(int fd, struct st_tail *out, struct st_error *err)
{
    struct walk w;
    struct stat sb;
    int rc;

    *out = (struct st_tail){0};
    if (fstat(fd, &sb) < 0)
        return st_fail_errno(err, "stat the trace");
    out->size = (uint64_t)sb.st_size;
    if (out->size == 0)
        return 0;
    rc = find_good(fd, out, &w, err);
    out->needs_newline = rc == 0 && w.open;
    if (rc < 0 || w.good == out->size)
        return rc;
    if (out->link.seq == 0 && out->size > FIRST_WRITE_MAX)
        return st_fail(err, EBADMSG, "no record stands in it: not a trace of ours, or damaged; move it away");
    return sum_torn(fd, out, w.good, err);
}
