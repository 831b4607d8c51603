/* run_copy: see run_copy.h. */
#include "cli/run_copy.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/input.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define CHUNK 65536

int st_run_copy_begin(struct st_run_copy *c, const char *file, struct st_error *err)
{
    const char *slash = strrchr(file, '/');
    st_auto_free char *folder = slash ? st_xstrndup(file, (size_t)(slash - file) + 1) : st_xstrdup(".");
    struct stat sb;

    c->name = st_xstrdup(slash ? slash + 1 : file);
    if (!*c->name || strcmp(c->name, ".") == 0 || strcmp(c->name, "..") == 0)
        return st_fail(err, EISDIR, "--trace %s: a file is wanted", file);
    c->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->dir < 0)
        return st_fail_errno(err, "--trace %s: its folder", file);
    if (fstatat(c->dir, c->name, &sb, AT_SYMLINK_NOFOLLOW) == 0)
        return st_fail(err, EEXIST, "--trace %s: it is there already; name a new file", file);
    return 0;
}

/* Rotated parts come in their order. */
static int copy_lines(struct st_input *in, int out, struct st_error *err)
{
    st_auto_buf bytes = ST_BUF_INIT;
    struct st_line line;
    int rc, wrote = 0;

    while ((rc = st_input_line(in, &line, err)) > 0) {
        st_buf_add(&bytes, line.text.p, line.text.len);
        if (line.ended)
            st_buf_addc(&bytes, '\n');
        if (bytes.len < CHUNK)
            continue;
        wrote = st_write_all(out, bytes.data, bytes.len);
        st_buf_clear(&bytes);
        if (wrote < 0)
            break;
    }
    if (rc < 0)
        return rc;
    if (wrote == 0)
        wrote = st_write_all(out, bytes.data, bytes.len);
    return wrote < 0 ? st_fail(err, -wrote, "write: %s", strerror(-wrote)) : 0;
}

int st_run_copy_make(const struct st_run_copy *c, const char *trace, const struct st_run_who *who,
                     struct st_error *err)
{
    st_auto_input in = NULL;
    st_auto_fd out = -1;

    if (st_input_open(trace, &in, err) < 0)
        return -err->errnum;
    /* Whatever the command has put there by now is left as it is. */
    out = openat(c->dir, c->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    if (out < 0)
        return st_fail_errno(err, "--trace %s", c->name);
    if (fchown(out, who->uid, who->gid) < 0)
        return st_fail_errno(err, "--trace %s", c->name);
    return copy_lines(in, out, err) < 0 ? st_wrap(err, "--trace %s", c->name) : 0;
}

void st_run_copy_end(struct st_run_copy *c)
{
    st_close(&c->dir);
    free(c->name);
    *c = (struct st_run_copy)ST_RUN_COPY_NONE;
}
