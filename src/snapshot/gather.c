/* gather: see gather.h. */
#include "snapshot/gather_private.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)

/* ---- the list ---- */

static void flush_list(struct st_gather *g, size_t above)
{
    if (g->list.len <= above)
        return;
    if (st_write_all(g->list_fd, g->list.data, g->list.len) < 0)
        g->tar->error = g->tar->error ? g->tar->error : EIO;
    st_buf_clear(&g->list);
}

static const char *type_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG: return "file";
    case S_IFDIR: return "directory";
    case S_IFLNK: return "symlink";
    case S_IFIFO: return "fifo";
    case S_IFSOCK: return "socket";
    case S_IFCHR: return "char_device";
    case S_IFBLK: return "block_device";
    default: return "unknown";
    }
}

void st_gather_note(struct st_gather *g, const char *path, const struct stat *st, const char *change,
                    const char *omitted)
{
    size_t before = g->list.len;
    struct st_jw w;

    if (omitted)
        g->omitted++;
    if (g->listed > ST_GATHER_LIST_BYTES)
        return;
    st_jw_init(&w, &g->list);
    st_jw_object(&w);
    st_jw_kstr(&w, "change", change);
    if (st)
        st_jw_kint(&w, "mode", st->st_mode & 07777);
    st_jw_kstr(&w, "omitted", omitted);
    st_jw_key(&w, "path");
    st_jw_strn(&w, path, strlen(path));
    if (st && S_ISREG(st->st_mode))
        st_jw_kint(&w, "size", st->st_size);
    if (st) {
        st_jw_kstr(&w, "type", type_name(st->st_mode));
        st_jw_kint(&w, "uid", st->st_uid);
    }
    st_jw_end(&w, '}');
    st_buf_addc(&g->list, '\n');
    g->listed += g->list.len - before;
    flush_list(g, (size_t)256 << 10);
}

int st_gather_finish(struct st_gather *g)
{
    flush_list(g, 0);
    st_buf_free(&g->list);
    st_gather_forget(g);
    return -g->tar->error;
}

bool st_gather_over(struct st_gather *g)
{
    if (!g->late && st_now_mono_ns() > g->deadline_ns)
        g->late = true;
    return g->late || g->tar->error || g->entries >= ST_GATHER_ENTRIES;
}

/* ---- a tree ---- */

struct level {
    DIR *dir;
    size_t path_len;
};

struct walk {
    struct st_gather *g;
    struct level levels[ST_GATHER_DEPTH];
    size_t depth;
    char path[PATH_MAX];
    size_t len;
};

/* A whiteout of overlayfs. */
static bool is_deletion(const struct st_gather *g, const struct stat *st)
{
    return g->overlay && S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

static bool push(struct walk *k, int fd, const struct stat *expected)
{
    struct stat st;
    DIR *dir;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) < 0 || st.st_dev != expected->st_dev || st.st_ino != expected->st_ino ||
        !(dir = fdopendir(fd))) {
        close(fd);
        return false;
    }
    k->levels[k->depth++] = (struct level){dir, k->len};
    return true;
}

static void enter(struct walk *k, int parent, const char *name, const struct stat *st)
{
    if (k->depth == ST_GATHER_DEPTH)
        st_gather_note(k->g, k->path, st, "changed", "too deep");
    else if (!push(k, st_gather_open(parent, name, DIR_FLAGS), st))
        st_gather_note(k->g, k->path, st, "changed", "could not be opened");
}

static void take(struct walk *k, const char *name)
{
    const struct level *level = &k->levels[k->depth - 1];
    int parent = dirfd(level->dir);
    size_t n = strlen(name);
    struct stat st;

    k->g->entries++;
    k->len = level->path_len;
    if (k->len + 1 + n >= sizeof(k->path)) {
        k->path[k->len] = '\0';
        st_gather_note(k->g, k->path, NULL, "changed", "a name in it is too long");
        return;
    }
    if (k->len)
        k->path[k->len++] = '/';
    memcpy(k->path + k->len, name, n + 1);
    k->len += n;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        st_gather_note(k->g, k->path, NULL, "changed", "could not be looked at");
    } else if (is_deletion(k->g, &st)) {
        k->g->deleted++;
        st_gather_note(k->g, k->path, NULL, "deleted", NULL);
    } else {
        st_gather_object(k->g, parent, name, k->path, &st, "changed");
        if (S_ISDIR(st.st_mode))
            enter(k, parent, name, &st);
    }
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

void st_gather_tree(struct st_gather *g, int root)
{
    struct walk *k = st_xcalloc(1, sizeof(*k));
    struct stat st;

    k->g = g;
    if (fstat(root, &st) < 0 || !push(k, st_gather_open(root, ".", DIR_FLAGS), &st))
        st_gather_note(g, "", NULL, "changed", "the layer could not be opened");
    while (k->depth && !st_gather_over(g)) {
        struct dirent *e = readdir(k->levels[k->depth - 1].dir);

        if (!e)
            closedir(k->levels[--k->depth].dir);
        else if (!is_dots(e->d_name))
            take(k, e->d_name);
    }
    if (k->depth)
        st_gather_note(g, "", NULL, "changed", g->late ? "the rest: time was up" : "the rest: too many");
    while (k->depth)
        closedir(k->levels[--k->depth].dir);
    free(k);
}

/* ---- paths ---- */

/* The directory that holds the last component, which *name becomes. */
static int walk_to(int root, const char *path, const char **name)
{
    st_auto_fd at = st_gather_open(root, ".", DIR_FLAGS);
    char part[NAME_MAX + 1];

    while (at >= 0) {
        size_t n;
        int next;

        while (*path == '/')
            path++;
        n = strcspn(path, "/");
        if (path[n] == '\0') {
            *name = path;
            return st_steal_fd(&at);
        }
        if (n > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(part, path, n);
        part[n] = '\0';
        next = is_dots(part) ? -1 : st_gather_open(at, part, DIR_FLAGS);
        st_close(&at);
        at = next;
        path += n;
    }
    return -ENOENT;
}

void st_gather_path(struct st_gather *g, int root, const char *path, const char *what)
{
    const char *name = "", *relative = path + strspn(path, "/");
    st_auto_fd parent = -1;
    struct stat st;

    if (st_gather_over(g)) {
        g->omitted++;
        return;
    }
    g->entries++;
    if (strcmp(what, "deleted") == 0) {
        g->deleted++;
        st_gather_note(g, relative, NULL, what, NULL);
        return;
    }
    parent = walk_to(root, path, &name);
    if (parent < 0 || !*name || is_dots(name) || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        st_gather_note(g, relative, NULL, what, "not found below the root, or through a symbolic link");
    else
        st_gather_object(g, parent, name, relative, &st, what);
}
