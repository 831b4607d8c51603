/* gather_object: one object of a layer into the archive: its content with its holes, its attributes, its
 * other names. See gather.h. */
#include "snapshot/gather_private.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>

#define MAX_EXTENTS 4096
#define MAX_INODES 4096
#define MAX_ATTRIBUTES ((size_t)64 << 10) /* of one object: names, and the bytes of all values */

struct st_gather_inode {
    dev_t dev;
    ino_t ino;
    char *path;
};

/* ---- other names ---- */

/* The name under which it is in the archive already; NULL: none, or there is no room to remember it. */
static const char *known_as(struct st_gather *g, const struct stat *st)
{
    if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
        return NULL;
    for (size_t i = g->n_inodes; i > 0; i--) /* names of one file are often neighbours */
        if (g->inodes[i - 1].ino == st->st_ino && g->inodes[i - 1].dev == st->st_dev)
            return g->inodes[i - 1].path;
    return NULL;
}

static void remember(struct st_gather *g, const struct stat *st, const char *path)
{
    if (!S_ISREG(st->st_mode) || st->st_nlink < 2 || g->n_inodes == MAX_INODES)
        return;
    if ((g->n_inodes & (g->n_inodes - 1)) == 0)
        g->inodes = st_xrealloc(g->inodes, (g->n_inodes ? 2 * g->n_inodes : 1) * sizeof(*g->inodes));
    g->inodes[g->n_inodes++] = (struct st_gather_inode){st->st_dev, st->st_ino, st_xstrdup(path)};
}

void st_gather_forget(struct st_gather *g)
{
    for (size_t i = 0; i < g->n_inodes; i++)
        free(g->inodes[i].path);
    free(g->inodes);
    g->inodes = NULL;
    g->n_inodes = 0;
}

/* When it was last read is evidence too; but only an owner may leave that alone. */
int st_gather_open(int parent, const char *name, int flags)
{
    int fd = openat(parent, name, flags | O_NOATIME);

    return fd < 0 && errno == EPERM ? openat(parent, name, flags) : fd;
}

/* ---- attributes ---- */

static void add_attribute(int fd, const char *name, struct st_buf *out)
{
    char key[XATTR_NAME_MAX + 32], value[16384];
    ssize_t n = fgetxattr(fd, name, value, sizeof(value));

    if (n < 0 || strchr(name, '=') || out->len + (size_t)n > MAX_ATTRIBUTES)
        return;
    snprintf(key, sizeof(key), "SCHILY.xattr.%s", name);
    st_tar_record(out, key, value, (size_t)n);
}

/* Those that anybody may set; the others belong to who mounts. */
static void read_attributes(int fd, struct st_buf *out)
{
    st_auto_free char *names = st_xmalloc(MAX_ATTRIBUTES);
    ssize_t n = flistxattr(fd, names, MAX_ATTRIBUTES);

    for (const char *name = names; n > 0 && name < names + n; name += strlen(name) + 1)
        if (strncmp(name, "user.", 5) == 0)
            add_attribute(fd, name, out);
}

/* ---- content ---- */

struct extents {
    struct st_tar_extent list[MAX_EXTENTS + 1];
    size_t n;
    bool sparse, too_many;
};

static void find_extents(int fd, off_t size, struct extents *x)
{
    uint64_t data = 0;

    for (off_t at = 0; at < size;) {
        off_t begin = lseek(fd, at, SEEK_DATA), end;

        if (begin < 0 || begin >= size)
            break; /* a hole to the end, or a file system that does not say */
        end = lseek(fd, begin, SEEK_HOLE);
        if (end <= begin || end > size)
            end = size;
        if (x->n == MAX_EXTENTS) {
            x->too_many = true;
            return;
        }
        x->list[x->n++] = (struct st_tar_extent){(uint64_t)begin, (uint64_t)(end - begin)};
        data += (uint64_t)(end - begin);
        at = end;
    }
    x->sparse = data < (uint64_t)size;
    if (x->sparse && (x->n == 0 || x->list[x->n - 1].at + x->list[x->n - 1].len < (uint64_t)size))
        x->list[x->n++] = (struct st_tar_extent){(uint64_t)size, 0}; /* a hole at the end ends there */
}

static void copy_range(struct st_tar *tar, int fd, off_t at, uint64_t len)
{
    char bytes[65536];

    while (len) {
        ssize_t n = pread(fd, bytes, len < sizeof(bytes) ? (size_t)len : sizeof(bytes), at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) { /* it has shrunk, or can't be read: zeroes, so that what follows is in its place */
            memset(bytes, 0, sizeof(bytes));
            n = (ssize_t)(len < sizeof(bytes) ? len : sizeof(bytes));
        }
        st_tar_data(tar, bytes, (size_t)n);
        at += n;
        len -= (uint64_t)n;
    }
}

static const char *put_content(struct st_gather *g, int fd, struct st_tar_entry e)
{
    struct extents *x = st_xcalloc(1, sizeof(*x));
    const char *why = NULL;

    find_extents(fd, e.st->st_size, x);
    if (x->sparse) {
        e.extents = x->list;
        e.n_extents = x->n;
    }
    if (x->too_many)
        why = "too many holes";
    else if (g->tar->bytes + st_tar_cost(&e) > g->max_bytes)
        why = "too big for what is left of quarantine_max_bytes";
    if (!why) {
        st_tar_header(g->tar, &e);
        for (size_t i = 0; x->sparse && i < x->n; i++)
            copy_range(g->tar, fd, (off_t)x->list[i].at, x->list[i].len);
        if (!x->sparse)
            copy_range(g->tar, fd, 0, (uint64_t)e.st->st_size);
        st_tar_end_entry(g->tar);
    }
    free(x);
    return why;
}

/* ---- one object ---- */

static const char *put_file(struct st_gather *g, int parent, const char *name, struct st_tar_entry e)
{
    st_auto_fd fd = st_gather_open(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    st_auto_buf attributes = ST_BUF_INIT;
    struct stat now;

    if (fd < 0)
        return "could not be opened";
    if (fstat(fd, &now) < 0 || !S_ISREG(now.st_mode) || now.st_ino != e.st->st_ino ||
        now.st_dev != e.st->st_dev)
        return "was another when it was opened";
    read_attributes(fd, &attributes);
    e.st = &now;
    e.extended = attributes.len ? &attributes : NULL;
    return put_content(g, fd, e);
}

static const char *put_plain(struct st_gather *g, const struct st_tar_entry *e)
{
    if (g->tar->bytes + st_tar_cost(e) > g->max_bytes)
        return "too big for what is left of quarantine_max_bytes";
    st_tar_header(g->tar, e);
    st_tar_end_entry(g->tar);
    return NULL;
}

static const char *put_symlink(struct st_gather *g, int parent, const char *name, struct st_tar_entry e)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(parent, name, target, sizeof(target) - 1);

    if (n < 0)
        return "could not be read";
    target[n] = '\0';
    e.link = target;
    return put_plain(g, &e);
}

static char type_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG: return '0';
    case S_IFLNK: return '2';
    case S_IFCHR: return '3';
    case S_IFBLK: return '4';
    case S_IFDIR: return '5';
    case S_IFIFO: return '6';
    default: return '\0';
    }
}

void st_gather_object(struct st_gather *g, int parent, const char *name, const char *path,
                      const struct stat *st, const char *change)
{
    struct st_tar_entry e = {.name = path, .type = type_of(st->st_mode), .st = st};
    const char *why;

    e.link = known_as(g, st);
    if (e.link) {
        e.type = '1';
        why = put_plain(g, &e);
    } else if (e.type == '0') {
        why = put_file(g, parent, name, e);
        if (!why)
            remember(g, st, path);
    } else if (e.type == '2') {
        why = put_symlink(g, parent, name, e);
    } else {
        why = e.type ? put_plain(g, &e) : "sockets have no content";
    }
    if (!why)
        g->files++;
    st_gather_note(g, path, st, change, why);
}
