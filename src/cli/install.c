/* install: see install.h. */
#include "cli/install.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX ((size_t)4 << 20)

void st_change_free(struct st_change *c)
{
    free(c->file);
    st_buf_free(&c->before);
    st_buf_free(&c->after);
    *c = (struct st_change){0};
}

int st_install_read(const char *file, struct st_buf *out, bool *there, struct st_error *err)
{
    struct st_error attempt = {0};

    *there = st_read_file(file, FILE_MAX, out, &attempt) >= 0;
    if (*there || attempt.errnum == ENOENT || attempt.errnum == ENOTDIR)
        return 0;
    return st_fail(err, attempt.errnum, "%s", attempt.msg);
}

static int begin(const char *file, struct st_change *c, struct st_error *err)
{
    *c = (struct st_change){.file = realpath(file, NULL)};
    if (!c->file)
        c->file = st_xstrdup(file);
    return st_install_read(c->file, &c->before, &c->was, err);
}

static bool same(const struct st_buf *a, const struct st_buf *b)
{
    return a->len == b->len && memcmp(st_buf_cstr(a), st_buf_cstr(b), a->len) == 0;
}

/* Would the file be what it is, had we just put ours into this? */
static bool comes_from(const struct st_engine *e, const struct st_buf *text, const char *runtime,
                       const struct st_change *c)
{
    st_auto_buf made = ST_BUF_INIT;
    struct st_error err = {0};

    return e->add(st_buf_cstr(text), text->len, runtime, &made, &err) >= 0 && same(&made, &c->before);
}

static int plan_undo(const struct st_engine *e, const char *runtime, struct st_change *c,
                     struct st_error *err)
{
    st_auto_free char *backup = st_xasprintf("%s" ST_INSTALL_BACKUP, c->file);
    st_auto_buf kept = ST_BUF_INIT, nothing = ST_BUF_INIT;
    bool there;

    if (st_install_read(backup, &kept, &there, err) < 0)
        return -err->errnum;
    if (there && comes_from(e, &kept, runtime, c)) {
        st_buf_add(&c->after, st_buf_cstr(&kept), kept.len);
        c->forget = true;
        return 0;
    }
    if (!there && comes_from(e, &nothing, runtime, c)) {
        c->will = false;
        return 0;
    }
    return e->drop(st_buf_cstr(&c->before), c->before.len, &c->after, err);
}

int st_change_plan(const struct st_engine *engine, const char *file, const char *runtime, bool undo,
                   struct st_change *c, struct st_error *err)
{
    st_auto_free char *found = NULL;
    int rc = begin(file, c, err);

    if (rc < 0)
        return rc;
    c->will = c->was || !undo;
    rc = engine->find(st_buf_cstr(&c->before), c->before.len, &found, err);
    if (rc == 0 && !undo) {
        c->keep = c->was && !found;
        rc = engine->add(st_buf_cstr(&c->before), c->before.len, runtime, &c->after, err);
    } else if (rc == 0 && found) {
        rc = plan_undo(engine, found, c, err);
    } else if (rc == 0) {
        st_buf_add(&c->after, st_buf_cstr(&c->before), c->before.len);
    }
    return rc < 0 ? st_wrap(err, "%s", c->file) : 0;
}

int st_change_plan_own(const char *file, const struct st_buf *bytes, bool undo, struct st_change *c,
                       struct st_error *err)
{
    if (begin(file, c, err) < 0)
        return -err->errnum;
    if (c->was && !same(&c->before, bytes))
        return st_fail(err, EEXIST,
                       "%s: it is not as sandtrace writes it, and is left alone; move it away first",
                       c->file);
    c->will = !undo;
    if (c->will)
        st_buf_add(&c->after, st_buf_cstr(bytes), bytes->len);
    return 0;
}

bool st_change_is_none(const struct st_change *c)
{
    return c->was == c->will && (!c->was || same(&c->before, &c->after));
}

/* ---- making ---- */

static int write_file(const char *path, const struct st_buf *bytes, mode_t mode, struct st_error *err)
{
    const char *slash = strrchr(path, '/');
    st_auto_free char *dir = st_xstrndup(path, slash ? (size_t)(slash - path) : 0);
    st_auto_fd dirfd = -1;

    if (dir[0] && st_mkdir_p(dir, 0755, err) < 0)
        return -err->errnum;
    dirfd = open(dir[0] ? dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirfd < 0)
        return st_fail_errno(err, "%s", dir);
    return st_replace_file_at(dirfd, slash ? slash + 1 : path, st_buf_cstr(bytes), bytes->len, mode, true,
                              err);
}

int st_change_make(const struct st_change *c, struct st_error *err)
{
    st_auto_free char *backup = st_xasprintf("%s" ST_INSTALL_BACKUP, c->file);
    struct stat sb;
    mode_t mode = stat(c->file, &sb) == 0 ? sb.st_mode & 07777 : 0644;

    if (c->keep && write_file(backup, &c->before, mode, err) < 0)
        return st_wrap(err, "keep what is there");
    if (c->will && write_file(c->file, &c->after, mode, err) < 0)
        return -err->errnum;
    if (!c->will && unlink(c->file) < 0)
        return st_fail_errno(err, "%s", c->file);
    if (c->forget && unlink(backup) < 0)
        return st_fail_errno(err, "%s", backup);
    return 0;
}
