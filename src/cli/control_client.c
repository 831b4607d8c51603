/* control_client: see control_client.h. */
#include "cli/control_client.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/printable.h"
#include "monitor/busdir.h"
#include "monitor/dial.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#define ANSWER_MAX ((size_t)2 << 20)
#define STATE_MAX 65536
#define TIMEOUT_S 10
#define CANDIDATES 8

/* ---- which there are ---- */

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct st_box *)a)->id, ((const struct st_box *)b)->id);
}

int st_boxes_read(const char *state_dir, struct st_boxes *out, struct st_error *err)
{
    st_auto_dir dir = opendir(state_dir);
    struct dirent *entry;

    *out = (struct st_boxes){0};
    if (!dir && errno == ENOENT)
        return 0;
    if (!dir)
        return st_fail_errno(err, "%s", state_dir);
    while ((entry = readdir(dir))) {
        struct st_box box = {.dirfd = -1};

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, ST_BUS_DIR) == 0)
            continue;
        box.dirfd = openat(dirfd(dir), entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        box.errnum = box.dirfd < 0 ? errno : 0;
        /* Gone between listing and looking: it has ended. */
        if (box.errnum == ENOENT || box.errnum == ENOTDIR)
            continue;
        box.id = st_xstrdup(entry->d_name);
        out->list = st_xrealloc(out->list, (out->n + 1) * sizeof(*out->list));
        out->list[out->n++] = box;
    }
    if (out->n)
        qsort(out->list, out->n, sizeof(*out->list), by_id);
    return 0;
}

void st_boxes_free(struct st_boxes *b)
{
    for (size_t i = 0; i < b->n; i++) {
        free(b->list[i].id);
        st_close(&b->list[i].dirfd);
    }
    free(b->list);
    *b = (struct st_boxes){0};
}

static int ambiguous(const struct st_boxes *b, const char *id, size_t n, struct st_error *err)
{
    st_auto_buf names = ST_BUF_INIT;
    size_t shown = 0;

    for (size_t i = 0; i < b->n && shown < CANDIDATES; i++)
        if (strncmp(b->list[i].id, id, strlen(id)) == 0)
            st_buf_addf(&names, "%s%s", shown++ ? ", " : "", b->list[i].id);
    return st_fail(err, ENOTUNIQ, "'%s' is the beginning of %zu containers: %s%s; write more of it", id, n,
                   st_buf_cstr(&names), n > shown ? " …" : "");
}

const struct st_box *st_boxes_find(const struct st_boxes *b, const char *id, struct st_error *err)
{
    const struct st_box *found = NULL;
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (strcmp(b->list[i].id, id) == 0)
            return &b->list[i];
        if (*id && strncmp(b->list[i].id, id, strlen(id)) == 0) {
            found = &b->list[i];
            n++;
        }
    }
    if (n == 1)
        return found;
    if (n > 1)
        ambiguous(b, id, n, err);
    else
        st_fail(err, ENOENT, "no watched container begins with '%s'; sandtrace ps lists them", id);
    return NULL;
}

/* ---- asking ---- */

static int connect_box(const struct st_box *box, struct st_error *err)
{
    struct timeval limit = {.tv_sec = TIMEOUT_S};
    st_auto_fd fd = -1;

    if (box->dirfd < 0)
        errno = box->errnum;
    else
        fd = st_dial(box->dirfd);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        return st_steal_fd(&fd);
    }
    if (errno == EACCES || errno == EPERM)
        return st_fail(err, EACCES,
                       "%s: permission denied; run this as root, or as a member of the group that "
                       "control_group of sandtrace.yaml names",
                       box->id);
    return st_fail_errno(err, "%s: its monitor can't be reached, it may have just ended", box->id);
}

/* Up to the first newline. */
static int read_line(int fd, const char *id, struct st_buf *out, struct st_error *err)
{
    char bytes[16384];

    for (;;) {
        ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
        const char *newline = n > 0 ? memchr(bytes, '\n', (size_t)n) : NULL;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return st_fail(err, ETIMEDOUT, "%s: its monitor has not answered for %d seconds", id, TIMEOUT_S);
        if (n <= 0)
            return st_fail(err, ECONNRESET, "%s: its monitor hung up, the container may have just ended", id);
        st_buf_add(out, bytes, newline ? (size_t)(newline - bytes) : (size_t)n);
        if (newline)
            return 0;
        if (out->len > ANSWER_MAX)
            return st_fail(err, EMSGSIZE, "%s: its monitor's answer has no end", id);
    }
}

int st_ask_on(const struct st_box *box, const char *request, size_t len, struct st_error *err)
{
    st_auto_buf line = ST_BUF_INIT;
    st_auto_fd fd = connect_box(box, err);

    if (fd < 0)
        return -err->errnum;
    st_buf_add(&line, request, len);
    st_buf_addc(&line, '\n');
    /* One who is not welcome is told so and cut off before it has said all: the answer counts. */
    for (size_t sent = 0; sent < line.len;) {
        ssize_t n = send(fd, line.data + sent, line.len - sent, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            break;
        sent += n > 0 ? (size_t)n : 0;
    }
    return st_steal_fd(&fd);
}

int st_ask(const struct st_box *box, const char *request, size_t len, struct st_answer *out,
           struct st_error *err)
{
    st_auto_buf line = ST_BUF_INIT;
    st_auto_fd fd = st_ask_on(box, request, len, err);
    const char *message;

    *out = (struct st_answer){0};
    if (fd < 0)
        return -err->errnum;
    if (read_line(fd, box->id, &out->text, err) < 0)
        return -err->errnum;
    if (st_json_parse(st_buf_cstr(&out->text), out->text.len, ST_JSON_DEFAULT_LIMITS, &out->doc, err) < 0)
        return st_wrap(err, "%s: answer of its monitor", box->id);
    out->root = st_json_root(out->doc);
    if (st_json_true(st_json_get(out->root, "ok")))
        return 0;
    message = st_json_str(st_json_get(st_json_get(out->root, "error"), "message"), NULL);
    st_add_printable(&line, message ? message : "refused", strlen(message ? message : "refused"));
    return st_fail(err, EREMOTEIO, "%s: %s", box->id, st_buf_cstr(&line));
}

const char *st_answer_code(const struct st_answer *a)
{
    const char *code = st_json_str(st_json_get(st_json_get(a->root, "error"), "code"), NULL);

    return code ? code : "";
}

void st_answer_free(struct st_answer *a)
{
    st_json_free(a->doc);
    st_buf_free(&a->text);
    *a = (struct st_answer){0};
}

bool st_box_state(const struct st_box *box, struct st_answer *out)
{
    *out = (struct st_answer){0};
    if (box->dirfd < 0 || st_read_file_at(box->dirfd, "state.json", false, STATE_MAX, &out->text, NULL) < 0 ||
        st_json_parse(st_buf_cstr(&out->text), out->text.len, ST_JSON_DEFAULT_LIMITS, &out->doc, NULL) < 0)
        return false;
    out->root = st_json_root(out->doc);
    return st_json_is(out->root, ST_JSON_OBJECT);
}

const char *st_login_name(void)
{
    const char *sudo = getenv("SUDO_USER");
    const struct passwd *pw;

    if (getuid() == 0 && sudo && *sudo)
        return sudo;
    pw = getpwuid(getuid());
    return pw ? pw->pw_name : NULL;
}

void st_json_with(struct st_buf *out, const char *text, const struct st_json_node *object, const char *key,
                  const char *value)
{
    bool put = false;
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_json_each (member, object) {
        const char *name = st_json_key(member, NULL);
        size_t start, end;

        if (!put && strcmp(name, key) > 0) {
            st_jw_kstr(&w, key, value);
            put = true;
        }
        st_json_span(member, &start, &end);
        st_jw_key(&w, name);
        st_jw_raw(&w, text + start, end - start);
    }
    if (!put)
        st_jw_kstr(&w, key, value);
    st_jw_end(&w, '}');
}
