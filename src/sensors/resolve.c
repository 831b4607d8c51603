/* resolve: see resolve.h. */
#include "sensors/resolve.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define LINKS_MAX 40 /* as the kernel's */
#define PROC_ROOT_INO 1
#define DELETED " (deleted)"

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

static int open_of(pid_t tid, const char *what)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, what);
    fd = open(path, O_PATH | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int open_fd_of(pid_t tid, int number)
{
    char what[24];
    int fd;

    if (number < 0)
        return -EBADF;
    snprintf(what, sizeof(what), "fd/%d", number);
    fd = open_of(tid, what);
    return fd == -ENOENT ? -EBADF : fd;
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
    int fd = open_of(w->who->tid, "root");

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
    if (has_place(&sb) && !st_own_mount(w->who->own, w->who->tid, fd))
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

    if (w->root < 0 && (w->root = open_of(w->who->tid, "root")) < 0)
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

/* The way to the last component in one step, where no link and no `..` is on it; else nothing is done. */
static void leap(struct walk *w)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    size_t first = strspn(w->left, "/"), end = w->len;
    int fd;

    while (end > first && w->left[end - 1] == '/')
        end--;
    while (end > first && w->left[end - 1] != '/')
        end--;
    if (end == first || goes_up(w->left, end))
        return;
    w->left[end - 1] = '\0';
    fd = (int)syscall(SYS_openat2, w->at, w->left + first, &how, sizeof(how));
    w->left[end - 1] = '/';
    if (fd < 0)
        return;
    move_to(w, fd);
    w->len -= end;
    memmove(w->left, w->left + end, w->len + 1);
}

/* ---- ends ---- */

/* The object is where we are. */
static int end_here(struct walk *w, struct st_resolved *out)
{
    out->object = st_steal_fd(&w->at);
    return fstat(out->object, &out->sb) < 0 ? -errno : 0;
}

/* The object is what the fd is open on. */
static int end_at_fd(struct walk *w, struct st_resolved *out)
{
    int rc = end_here(w, out);

    out->foreign = rc == 0 && has_place(&out->sb) && !st_own_mount(w->who->own, w->who->tid, out->object);
    return rc;
}

/* 1: the last component has been dealt with; 0: it was a link, and the walk goes on. */
static int end_at(struct walk *w, const char *name, bool slash, struct st_resolved *out)
{
    st_auto_fd fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat sb = {0};
    int rc;

    if (fd < 0 && errno != ENOENT)
        return -errno;
    if (fd >= 0 && fstat(fd, &sb) < 0)
        return -errno;
    if (fd >= 0 && S_ISLNK(sb.st_mode) && !(w->flags & ST_RESOLVE_ENTRY) &&
        ((w->flags & ST_RESOLVE_FOLLOW) || slash)) {
        rc = follow(w, name);
        return rc < 0 ? rc : 0;
    }
    out->sb = sb;
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

/* ---- the path ---- */

/* /proc/OURS/… becomes what the container calls it. */
static size_t as_container_sees(const struct walk *w, char *path, size_t len)
{
    char ours[32], theirs[32];
    int n = snprintf(ours, sizeof(ours), "/proc/%d", (int)w->who->leader);
    int m = snprintf(theirs, sizeof(theirs), "/proc/%d", (int)w->who->container_pid);
    size_t from = (size_t)n, to = (size_t)m;

    if (!w->own_proc || !w->who->container_pid || len < from || memcmp(path, ours, from) != 0 || to > from ||
        (len > from && path[from] != '/'))
        return len;
    memmove(path + to, path + from, len - from);
    memcpy(path, theirs, to);
    return len - (from - to);
}

/* Removed meanwhile, never linked, or of memory only: the kernel says so behind the path. A name may end in
 * the same words: only where no link is left do they count. */
static bool is_nameless(int fd, const char *path, size_t len)
{
    struct stat sb;

    return len > strlen(DELETED) && memcmp(path + len - strlen(DELETED), DELETED, strlen(DELETED)) == 0 &&
           (fstat(fd, &sb) < 0 || sb.st_nlink == 0);
}

static void find_path(const struct walk *w, struct st_resolved *out)
{
    int fd = out->parent >= 0 ? out->parent : out->object;
    size_t tail = out->parent >= 0 ? strlen(out->name) : 0;
    char link[32];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, out->path, PATH_MAX);
    if (n <= 0 || n == PATH_MAX || out->path[0] != '/' || is_nameless(fd, out->path, (size_t)n))
        return;
    out->path_len = as_container_sees(w, out->path, (size_t)n);
    if (tail == 0)
        return;
    if (out->path_len > 1)
        out->path[out->path_len++] = '/';
    memcpy(out->path + out->path_len, out->name, tail);
    out->path_len += tail;
}

/* ---- all of it ---- */

static int begin(struct walk *w, int dirfd, const char *path)
{
    if (path && path[0] == '/')
        return to_root(w);
    w->at = dirfd == AT_FDCWD ? open_of(w->who->tid, "cwd") : open_fd_of(w->who->tid, dirfd);
    return w->at < 0 ? w->at : 0;
}

int st_resolve(const struct st_resolver *who, int dirfd, const char *path, unsigned flags,
               struct st_resolved *out)
{
    __attribute__((cleanup(end_walk))) struct walk w = {.who = who, .flags = flags, .root = -1, .at = -1};
    size_t len = path ? strlen(path) : 0;
    int rc;

    out->parent = out->object = -1;
    out->path_len = 0;
    out->dot = out->slash = out->foreign = false;
    out->name[0] = '\0';
    if (len >= PATH_MAX)
        return -ENAMETOOLONG;
    if (path && len == 0 && !(flags & ST_RESOLVE_EMPTY))
        return -ENOENT;
    rc = begin(&w, dirfd, path);
    if (rc < 0)
        return rc;
    if (path)
        memcpy(w.left, path, len + 1);
    w.len = len;
    leap(&w);
    rc = len == 0 ? end_at_fd(&w, out) : walk(&w, out);
    if (rc < 0) {
        st_resolved_close(out);
        return rc;
    }
    if (!out->foreign)
        find_path(&w, out);
    return 0;
}

void st_resolved_close(struct st_resolved *r)
{
    st_close(&r->parent);
    st_close(&r->object);
}
