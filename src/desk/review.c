/* review: see review.h. The folders: found, read, closed. */
#include "desk/review.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define TASK "review.json"
#define VERDICTS "verdicts.jsonl"
#define MAX_TASK ((size_t)256 << 10)
#define MAX_VERDICTS ((size_t)1 << 20)

bool st_review_id_ok(const char *id)
{
    size_t len = strnlen(id, NAME_MAX + 1);

    return len > 0 && len <= NAME_MAX && id[0] != '.' && !strchr(id, '/');
}

void st_reviews_free(struct st_reviews *all)
{
    for (size_t i = 0; i < all->n; i++)
        st_review_free(&all->list[i]);
    free(all->list);
    *all = (struct st_reviews){0};
}

/* ---- reading ---- */

static int open_root(const char *dir, struct st_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? st_fail_errno(err, "%s", dir) : fd;
}

static int open_task(int root, const char *id)
{
    int fd = openat(root, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

static void name_task(const char *dir, const char *id, struct st_review *out)
{
    out->id = st_xstrdup(id);
    out->folder = st_xasprintf("%s/%s", dir, id);
}

static int read_verdicts(int folder, struct st_review *out, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    struct st_error why = {0};

    if (st_read_file_at(folder, VERDICTS, false, MAX_VERDICTS, &text, &why) == 0)
        st_review_parse_verdicts(st_buf_cstr(&text), text.len, out);
    else if (why.errnum != ENOENT)
        return st_fail(err, why.errnum, "%s", why.msg);
    return 0;
}

static int read_files(int folder, struct st_review *out, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;

    if (st_read_file_at(folder, TASK, false, MAX_TASK, &text, err) < 0 ||
        st_review_parse(st_buf_cstr(&text), text.len, out, err) < 0)
        return -err->errnum;
    return read_verdicts(folder, out, err);
}

/* What is spoilt is a task all the same, and open until somebody closes it. */
static void read_task(const char *dir, int folder, const char *id, struct st_review *out)
{
    struct st_error err = {0}, ignored = {0};

    *out = (struct st_review){0};
    if (read_files(folder, out, &err) < 0) {
        st_review_free(out);
        out->container = st_xstrdup(id);
        out->broken = st_xstrdup(err.msg);
        read_verdicts(folder, out, &ignored);
    }
    name_task(dir, id, out);
}

static int newest_first(const void *a, const void *b)
{
    const struct st_review *x = a, *y = b;
    int order = strcmp(y->opened ? y->opened : "~", x->opened ? x->opened : "~");

    return order ? order : strcmp(x->id, y->id);
}

int st_review_list(const char *dir, struct st_reviews *out, struct st_error *err)
{
    st_auto_dir entries = NULL;
    struct dirent *e;
    int root = open_root(dir, err);

    *out = (struct st_reviews){0};
    if (root == -ENOENT)
        return 0;
    if (root < 0)
        return root;
    entries = fdopendir(root);
    if (!entries) {
        int rc = st_fail_errno(err, "%s", dir);

        close(root);
        return rc;
    }
    for (errno = 0; (e = readdir(entries)); errno = 0) {
        st_auto_fd folder = st_review_id_ok(e->d_name) ? open_task(root, e->d_name) : -ENOTDIR;

        if (folder == -ENOTDIR || folder == -ELOOP || folder == -ENOENT)
            continue;
        /* One that can't be looked at may be the open one: whoever asks must not take it for none. */
        if (folder < 0)
            return st_fail(err, -folder, "%s/%s: %s", dir, e->d_name, strerror(-folder));
        if (out->n == ST_REVIEW_LIST_MAX) {
            out->more = true;
            break;
        }
        if ((out->n & (out->n - 1)) == 0)
            out->list = st_xrealloc(out->list, (out->n ? 2 * out->n : 1) * sizeof(*out->list));
        read_task(dir, folder, e->d_name, &out->list[out->n++]);
    }
    if (errno)
        return st_fail_errno(err, "%s", dir);
    if (out->n)
        qsort(out->list, out->n, sizeof(*out->list), newest_first);
    return 0;
}

/* ---- one ---- */

/* The whole name of what is cut short. */
static int find(const char *dir, int root, const char *id, char found[NAME_MAX + 1], struct st_error *err)
{
    st_auto_fd whole = st_review_id_ok(id) ? open_task(root, id) : -1;
    st_auto_dir entries = NULL;
    struct dirent *e;
    int copy;

    found[0] = '\0';
    if (!st_review_id_ok(id))
        return st_fail(err, ENOENT, "%.100s is no ID of a task", id);
    if (whole >= 0) {
        memcpy(found, id, strlen(id) + 1);
        return 0;
    }
    copy = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    entries = copy < 0 ? NULL : fdopendir(copy);
    if (!entries) {
        st_close(&copy);
        return st_fail_errno(err, "%s", dir);
    }
    while ((e = readdir(entries))) {
        st_auto_fd folder = strncmp(e->d_name, id, strlen(id)) == 0 && st_review_id_ok(e->d_name)
                                ? open_task(root, e->d_name)
                                : -1;

        if (folder < 0)
            continue;
        if (found[0])
            return st_fail(err, EEXIST, "%s may be %.80s or %.80s; write more of it", id, found, e->d_name);
        snprintf(found, NAME_MAX + 1, "%s", e->d_name);
    }
    return found[0] ? 0 : st_fail(err, ENOENT, "there is no task %.100s in %s", id, dir);
}

static int open_named(const char *dir, const char *id, char name[NAME_MAX + 1], struct st_error *err)
{
    st_auto_fd root = open_root(dir, err);
    int folder;

    if (root == -ENOENT)
        return st_fail(err, ENOENT, "there is no task %.100s: %s is not there", id, dir);
    if (root < 0)
        return root;
    if (find(dir, root, id, name, err) < 0)
        return -err->errnum;
    folder = open_task(root, name);
    return folder < 0 ? st_fail(err, -folder, "%s/%s: %s", dir, name, strerror(-folder)) : folder;
}

int st_review_load(const char *dir, const char *id, struct st_review *out, struct st_error *err)
{
    char name[NAME_MAX + 1];
    st_auto_fd folder = open_named(dir, id, name, err);

    *out = (struct st_review){0};
    if (folder < 0)
        return folder;
    read_task(dir, folder, name, out);
    return 0;
}

/* ---- closing ---- */

static int check_verdict(const char *verdict, const char *reason, struct st_error *err)
{
    bool known = false;

    for (unsigned i = 0; st_review_verdict_name(i); i++)
        known |= strcmp(st_review_verdict_name(i), verdict) == 0;
    if (!known)
        return st_fail(err, EINVAL, "no such verdict: %.50s; write benign, malicious, policy or other",
                       verdict);
    if (reason[strspn(reason, " \t\r\n")] == '\0')
        return st_fail(err, EINVAL, "a verdict needs a reason");
    if (strlen(reason) > ST_REVIEW_REASON_MAX)
        return st_fail(err, EINVAL, "the reason is longer than %d bytes", ST_REVIEW_REASON_MAX);
    return 0;
}

/* Where a crash has cut the last line, ours must not be the rest of it. */
static bool ends_whole(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char last;

    return size == 0 || (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last == '\n');
}

static int append(int folder, const struct st_buf *line, struct st_error *err)
{
    st_auto_fd fd = openat(
        folder, VERDICTS, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);

    if (fd < 0 || (!ends_whole(fd) && st_write_all(fd, "\n", 1) < 0) ||
        st_write_all(fd, line->data, line->len) < 0 || fsync(fd) < 0 || fsync(folder) < 0)
        return st_fail_errno(err, "%s", VERDICTS);
    return 0;
}

int st_review_close(const char *dir, const char *id, const char *verdict, const char *reason, const char *by,
                    struct st_error *err)
{
    st_auto_buf line = ST_BUF_INIT;
    st_auto_review task = {0}, closing = {0};
    char name[NAME_MAX + 1], now[ST_RFC3339_SIZE];
    st_auto_fd folder = -1;

    if (check_verdict(verdict, reason, err) < 0)
        return -err->errnum;
    folder = open_named(dir, id, name, err);
    if (folder < 0)
        return folder;
    if (flock(folder, LOCK_EX) < 0) /* of two who close it one is first */
        return st_fail_errno(err, "%s/%s", dir, name);
    read_task(dir, folder, name, &task);
    if (task.state == ST_REVIEW_CLOSED)
        return st_fail(err, EALREADY, "%s is closed already: %s, by %.200s", name, task.verdict,
                       task.closed_by);
    st_format_rfc3339(st_now_wall_us(), now);
    closing.closed_at = st_xstrdup(now);
    closing.closed_by = st_xstrdup(by);
    closing.closed_reason = st_xstrdup(reason);
    closing.verdict = st_xstrdup(verdict);
    st_review_write_verdict(&closing, &line);
    st_buf_addc(&line, '\n');
    return append(folder, &line, err) < 0 ? st_wrap(err, "%s/%s", dir, name) : 0;
}
