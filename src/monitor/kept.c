/* kept: see kept.h. */
#include "monitor/kept.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_SIZE ((size_t)4 << 20)
#define OF_TRACE ".jsonl"

static int path_of(const char *trace_path, char out[PATH_MAX], struct st_error *err)
{
    size_t len = strlen(trace_path), suffix = strlen(OF_TRACE);
    int n;

    if (len > suffix && strcmp(trace_path + len - suffix, OF_TRACE) == 0)
        len -= suffix;
    n = snprintf(out, PATH_MAX, "%.*s.approved", (int)len, trace_path);
    return n > 0 && n < PATH_MAX ? 0 : st_fail(err, ENAMETOOLONG, "%s", trace_path);
}

bool st_kept_concerns(const struct st_event *ev)
{
    return ev->type == ST_EV_NETWORK_EGRESS || ev->type == ST_EV_NETWORK_INGRESS ||
           ev->type == ST_EV_DNS_QUERY;
}

/* Where the last line was cut, ours must not be the rest of it. */
static bool ends_whole(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char last;

    return size == 0 || (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last == '\n');
}

int st_kept_add(const char *trace_path, const char *line, struct st_error *err)
{
    char path[PATH_MAX];
    st_auto_fd fd = -1;

    if (path_of(trace_path, path, err) < 0)
        return -err->errnum;
    fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
    if (fd < 0 || (!ends_whole(fd) && st_write_all(fd, "\n", 1) < 0) ||
        st_write_all(fd, line, strlen(line)) < 0 || fdatasync(fd) < 0)
        return st_fail_errno(err, "%s", path);
    return 0;
}

/* A record whose hash is its own. */
static bool read_line(struct st_str line, struct st_buf *scratch, struct st_decoder *decoder,
                      struct st_decoded *out)
{
    unsigned char digest[ST_SHA256_SIZE];
    struct st_frame frame;
    const char *why;

    if (st_frame_read(line, scratch, &frame, &why) != ST_FRAME_OK || frame.dialect != ST_DIALECT_CURRENT)
        return false;
    st_frame_hash(&frame, digest);
    return st_frame_states(&frame, digest) && st_decode(decoder, &frame, out, NULL) == 0 && out->known_type &&
           out->has_verdict;
}

static bool holds_under(const struct st_decoded *d, const char *policy_sha256)
{
    return st_kept_concerns(&d->ev) && d->verdict.policy_sha256 &&
           strcmp(d->verdict.policy_sha256, policy_sha256) == 0;
}

int st_kept_recall(const char *trace_path, const char *policy_sha256,
                   void (*each)(void *ctx, const struct st_decoded *d), void *ctx, struct st_error *err)
{
    st_auto_decoder decoder = st_decoder_new();
    st_auto_buf text = ST_BUF_INIT, scratch = ST_BUF_INIT;
    char path[PATH_MAX];

    if (path_of(trace_path, path, err) < 0 || st_read_trusted_file(path, MAX_SIZE, &text, err) < 0)
        return -err->errnum;
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        struct st_decoded d;

        if (!end)
            break;
        if (read_line((struct st_str){text.data + at, (size_t)(end - text.data) - at}, &scratch, decoder,
                      &d) &&
            holds_under(&d, policy_sha256))
            each(ctx, &d);
        at = (size_t)(end - text.data) + 1;
    }
    return 0;
}

void st_kept_forget(const char *trace_path)
{
    char path[PATH_MAX];
    struct st_error err = {0};

    if (path_of(trace_path, path, &err) == 0)
        unlink(path);
}
