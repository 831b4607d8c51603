/* resolve: see resolve.h. */
#include "sensors/resolve.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#define LINKS_MAX 40 /* as the kernel's */
#define PROC_ROOT_INO 1
#define START_MAX 24 /* of "fd/N" */

struct walk {
    const struct st_resolver *who;
    unsigned flags, links;
    int root, at;  /* O_PATH; root: -1 until it is needed */
    bool own_proc; /* went through /proc/self: paths there have our number of the process */
    size_t len;    /* of what is left to walk */
    char left[2 * PATH_MAX];
};

static void end_walk(struct walk *w)
{
    st_close(&w->root);
    st_close(&w->at);
}

static void move_to(struct walk *w, int fd)
{
    st_close(&w->at);
    w->at = fd;
}

static int kept_task(const struct walk *w)
{
    return w->who->kept ? w->who->kept->task : -1;
}

static int open_of(const struct walk *w, const char *what)
{
    int fd = kept_task(w) < 0 ? -1 : openat(kept_task(w), what, O_PATH | O_CLOEXEC);
    char path[64];

    if (fd < 0) {
        snprintf(path, sizeof(path), "/proc/%d/%s", (int)w->who->tid, what);
        fd = open(path, O_PATH | O_CLOEXEC);
    }
    return fd < 0 ? -errno : fd;
}

/* ---- where things are ---- */

static bool same_place(int a, int b)
{
    struct stat x, y;

    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev &&
           st_mount_of(a) == st_mount_of(b);
}

static bool is_on_proc(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static struct st_own_mounts *own_of(const struct walk *w)
{
    return w->who->kept ? &w->who->kept->own : NULL;
}

/* Pipes, sockets, memory and files without a name are of nobody's mounts. */
static bool has_place(const struct stat *sb)
{
    return (S_ISREG(sb->st_mode) || S_ISDIR(sb->st_mode)) && sb->st_nlink > 0;
}

/* ---- links ---- */

/* What is left is now behind this text. */
static int put_before(struct walk *w, const char *text, size_t len)
{
    if (len + 1 + w->len >= sizeof(w->left))
        return -ENAMETOOLONG;
    memmove(w->left + len + 1, w->left, w->len + 1);
    memcpy(w->left, text, len);
    w->left[len] = '/';
    w->len += len + 1;
    if (w->len == len + 1) /* nothing was left: no slash behind */
        w->left[--w->len] = '\0';
    return 0;
}

static int to_root(struct walk *w)
{
    int fd = open_of(w, "root");

    if (fd < 0)
        return fd;
    move_to(w, fd);
    return 0;
}

/* Links of /proc that lead to an object, not to a path: fd/N, cwd, root, exe. */
static int follow_magic(struct walk *w, const char *name)
{
    st_auto_fd fd = openat(w->at, name, O_PATH | O_CLOEXEC);
    struct stat sb;

    if (fd < 0 || fstat(fd, &sb) < 0)
        return -errno;
    if (has_place(&sb) && !st_own_mount(own_of(w), w->who->tid, fd))
        return -EXDEV;
    move_to(w, st_steal_fd(&fd));
    return 0;
}

/* Does this /proc number processes as the task itself does? */
static bool is_own_numbering(const struct walk *w)
{
    char link[48];
    struct stat here, own;

    snprintf(link, sizeof(link), "/proc/%d/ns/pid", (int)w->who->tid);
    return w->who->container_pid > 0 && fstatat(w->at, "1/ns/pid", &here, 0) == 0 && stat(link, &own) == 0 &&
           here.st_ino == own.st_ino && here.st_dev == own.st_dev;
}

/* `self` and `thread-self` mean the task, not us: by its number there, else by our own /proc. */
static int follow_self(struct walk *w, bool thread)
{
    char what[48];
    int fd;

    if (!thread && is_own_numbering(w)) {
        int len = snprintf(what, sizeof(what), "%d", (int)w->who->container_pid);

        return put_before(w, what, (size_t)len);
    }
    if (thread)
        snprintf(what, sizeof(what), "/proc/%d/task/%d", (int)w->who->leader, (int)w->who->tid);
    else
        snprintf(what, sizeof(what), "/proc/%d", (int)w->who->leader);
    fd = open(what, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    w->own_proc = true;
    move_to(w, fd);
    return 0;
}

/* 1: done; 0: a link like others. */
static int follow_proc(struct walk *w, const char *name)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
    st_auto_fd plain = -1;
    struct stat sb;
    int rc;

    if (fstat(w->at, &sb) == 0 && sb.st_ino == PROC_ROOT_INO &&
        (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0)) {
        rc = follow_self(w, name[0] == 't');
        return rc < 0 ? rc : 1;
    }
    plain = (int)syscall(SYS_openat2, w->at, name, &how, sizeof(how));
    if (plain >= 0 || errno != ELOOP)
        return 0;
    rc = follow_magic(w, name);
    return rc < 0 ? rc : 1;
}

/* The entry of this name in the present directory is a link: go there. */
static int follow(struct walk *w, const char *name)
{
    char text[PATH_MAX];
    ssize_t n;
    int rc;

    if (++w->links > LINKS_MAX)
        return -ELOOP;
    if (is_on_proc(w->at)) {
        rc = follow_proc(w, name);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    n = readlinkat(w->at, name, text, sizeof(text));
    if (n < 0)
        return errno == EINVAL ? -ENOTDIR : -errno;
    if (n == 0 || n == (ssize_t)sizeof(text))
        return n == 0 ? -ENOENT : -ENAMETOOLONG;
    rc = text[0] == '/' ? to_root(w) : 0;
    return rc < 0 ? rc : put_before(w, text, (size_t)n);
}

/* ---- steps ---- */

static int step_up(struct walk *w)
{
    int fd;

    if (w->root < 0 && (w->root = open_of(w, "root")) < 0)
        return w->root;
    if (same_place(w->at, w->root))
        return 0;
    fd = openat(w->at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    move_to(w, fd);
    return 0;
}

static int step_down(struct walk *w, const char *name)
{
    int fd = openat(w->at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOTDIR ? follow(w, name) : -errno;
    move_to(w, fd);
    return 0;
}

/* Cut the next component off. Returns its length; 0: none is left. */
static size_t next_name(struct walk *w, char name[NAME_MAX + 1], bool *last, bool *slash)
{
    size_t skip = strspn(w->left, "/"), len = strcspn(w->left + skip, "/"), rest;

    if (len > 0 && len <= NAME_MAX) {
        memcpy(name, w->left + skip, len);
        name[len] = '\0';
    }
    rest = skip + len + strspn(w->left + skip + len, "/");
    *last = w->left[rest] == '\0';
    *slash = rest > skip + len;
    w->len -= skip + len;
    memmove(w->left, w->left + skip + len, w->len + 1);
    return len;
}

static bool goes_up(const char *path, size_t len)
{
    for (const char *p = path; (p = memmem(p, len - (size_t)(p - path), "..", 2)); p++)
        if ((p == path || p[-1] == '/') && (p + 2 == path + len || p[2] == '/'))
            return true;
    return false;
}

/* Which part of what is left leads to the last component: from first, without slashes before it, to end. */
static void find_way(const struct walk *w, size_t *first, size_t *end)
{
    *first = strspn(w->left, "/");
    *end = w->len;
    while (*end > *first && w->left[*end - 1] == '/')
        --*end;
    while (*end > *first && w->left[*end - 1] != '/')
        --*end;
}

static void cut_off(struct walk *w, size_t n)
{
    w->len -= n;
    memmove(w->left, w->left + n, w->len + 1);
}

/* The way to the last component in one step, where no link and no `..` is on it; else nothing is done. */
static void leap(struct walk *w)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    size_t first, end;
    int fd;

    find_way(w, &first, &end);
    if (end == first || goes_up(w->left, end))
        return;
    w->left[end - 1] = '\0';
    fd = (int)syscall(SYS_openat2, w->at, w->left + first, &how, sizeof(how));
    w->left[end - 1] = '/';
    if (fd < 0)
        return;
    move_to(w, fd);
    cut_off(w, end);
}

/* Where the task begins and the way to the last component, in one step: where the way is one name, which must
 * be no link. What comes before it is the kernel's own link to where the task is at this moment. */
static bool leap_from(struct walk *w, const char *start)
{
    char what[START_MAX + 1 + NAME_MAX + 1], *p = what;
    size_t first, end, len;
    int fd;

    find_way(w, &first, &end);
    if (kept_task(w) < 0 || end == first)
        return false;
    len = end - 1 - first;
    if (len > NAME_MAX || memchr(w->left + first, '/', len) || goes_up(w->left + first, len))
        return false;
    p = stpcpy(p, start);
    *p++ = '/';
    memcpy(p, w->left + first, len);
    p[len] = '\0';
    fd = openat(kept_task(w), what, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    w->at = fd;
    cut_off(w, end);
    return true;
}

/* ---- ends ---- */

/* A look at an entry, or with an empty name at the fd itself. It opens nothing. */
static int look(int at, const char *name, struct st_resolved *out)
{
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name[0] ? 0 : AT_EMPTY_PATH);
    struct statx sx;

    if (statx(at, name, flags, STATX_BASIC_STATS | STATX_MNT_ID, &sx) < 0)
        return -errno;
    out->there = true;
    out->sb = (struct stat){.st_dev = makedev(sx.stx_dev_major, sx.stx_dev_minor),
                            .st_ino = sx.stx_ino,
                            .st_mode = sx.stx_mode,
                            .st_nlink = sx.stx_nlink,
                            .st_size = (off_t)sx.stx_size};
    out->mount = sx.stx_mask & STATX_MNT_ID ? sx.stx_mnt_id : 0;
    out->is_mount =
        !(sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) || (sx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
    return 0;
}

/* The object is where we are. */
static int end_here(struct walk *w, struct st_resolved *out)
{
    out->object = st_steal_fd(&w->at);
    return look(out->object, "", out);
}

/* The object is what the fd is open on. */
static int end_at_fd(struct walk *w, struct st_resolved *out)
{
    int rc = end_here(w, out);

    out->foreign = rc == 0 && has_place(&out->sb) && !st_own_mount(own_of(w), w->who->tid, out->object);
    return rc;
}

/* 1: the last component has been dealt with; 0: it was a link, and the walk goes on. */
static int end_at(struct walk *w, const char *name, bool slash, struct st_resolved *out)
{
    st_auto_fd fd = w->flags & ST_RESOLVE_LOOK ? -1 : openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int rc;

    if (w->flags & ST_RESOLVE_LOOK)
        rc = look(w->at, name, out);
    else
        rc = fd < 0 ? -errno : look(fd, "", out);
    if (rc < 0 && (rc != -ENOENT || fd >= 0))
        return rc;
    if (rc == 0 && S_ISLNK(out->sb.st_mode) && !(w->flags & ST_RESOLVE_ENTRY) &&
        ((w->flags & ST_RESOLVE_FOLLOW) || slash)) {
        out->there = false;
        rc = follow(w, name);
        return rc < 0 ? rc : 0;
    }
    out->object = st_steal_fd(&fd);
    out->parent = st_steal_fd(&w->at);
    memcpy(out->name, name, strlen(name) + 1);
    return 1;
}

static int walk(struct walk *w, struct st_resolved *out)
{
    char name[NAME_MAX + 1];
    bool last = false, slash = false;

    for (;;) {
        size_t len = next_name(w, name, &last, &slash);
        int rc;

        if (len == 0) { /* a link of /proc in the last place, or a path of slashes */
            out->dot = w->links == 0;
            return end_here(w, out);
        }
        if (len > NAME_MAX)
            return -ENAMETOOLONG;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            rc = name[1] == '.' ? step_up(w) : 0;
            out->dot = last;
            if (rc == 0 && last)
                return end_here(w, out);
        } else if (last) {
            rc = end_at(w, name, slash, out);
            out->slash = slash;
            if (rc != 0)
                return rc < 0 ? rc : 0;
        } else {
            rc = step_down(w, name);
        }
        if (rc < 0)
            return rc;
    }
}

/* ---- all of it ---- */

/* Where it begins, and where possible the way from there. */
static int begin(struct walk *w, int dirfd)
{
    char number[START_MAX] = "cwd";
    const char *start = w->left[0] == '/' ? "root" : number;

    if (start == number && dirfd != AT_FDCWD && dirfd < 0)
        return -EBADF;
    if (start == number && dirfd != AT_FDCWD)
        snprintf(number, sizeof(number), "fd/%d", dirfd);
    if (leap_from(w, start))
        return 0;
    w->at = open_of(w, start);
    if (w->at == -ENOENT && start == number && dirfd != AT_FDCWD)
        w->at = -EBADF;
    if (w->at < 0)
        return w->at;
    leap(w);
    return 0;
}

/* All but the room for names, which is large. */
static void clear(struct st_resolved *r)
{
    r->parent = r->object = -1;
    r->path_len = 0;
    r->there = r->dot = r->slash = r->foreign = r->own_proc = r->is_mount = false;
    r->mount = r->parent_mount = 0;
    r->name[0] = '\0';
}

int st_resolve(const struct st_resolver *who, int dirfd, const char *path, unsigned flags,
               struct st_resolved *out)
{
    __attribute__((cleanup(end_walk))) struct walk w; /* too large to be cleared for nothing */
    int rc;

    w.who = who;
    w.flags = flags;
    w.links = 0;
    w.root = w.at = -1;
    w.own_proc = false;
    w.len = path ? strlen(path) : 0;
    clear(out);
    if (w.len >= PATH_MAX)
        return -ENAMETOOLONG;
    if (path && w.len == 0 && !(flags & ST_RESOLVE_EMPTY))
        return -ENOENT;
    memcpy(w.left, path ? path : "", w.len + 1);
    rc = begin(&w, dirfd);
    if (rc == 0)
        rc = path && path[0] ? walk(&w, out) : end_at_fd(&w, out);
    if (rc < 0) {
        st_resolved_close(out);
        return rc;
    }
    out->own_proc = w.own_proc;
    if (!(flags & ST_RESOLVE_LOOK))
        st_resolved_find_path(who, out);
    return 0;
}
