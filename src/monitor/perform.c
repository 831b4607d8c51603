/* perform: carries out one errand (errand.h). A process of its own, privileged until it has what it needs,
 * then with no more rights than the task on whose behalf it works; it ends with the errand.
 *
 * What is read here of the task comes from the kernel (/proc/TID/status: numbers). Every name is one
 * component below an fd; none is ever followed through a symbolic link. Devices are neither opened nor made:
 * we are not in the container's device group. */
#include "monitor/errand.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "monitor/watch.h"
#include "sensors/fan.h"
#include "sensors/marks.h"
#include "sensors/own_mounts.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define LIMIT_S 20
#define GROUPS_MAX 1024

struct performer {
    const struct st_errand *e;
    int reply, at, target, base;
    int proc, fds; /* our own /proc and /proc/self/fd: ours is not the container's */
    int result;    /* fd to be handed over */
};

struct credentials {
    uid_t uid;
    gid_t gid;
    mode_t umask;
    uint64_t capabilities;
    gid_t groups[GROUPS_MAX];
    size_t n_groups;
};

/* ---- may it be ---- */

/* The worker is not trusted: it may send us only to the container's own mounts, for its own tasks. */
static int check(const struct performer *p, const struct st_watch *watch)
{
    pid_t init = watch->order.pid;
    struct st_membership members;
    bool strays = strchr(p->e->name, '/') || strchr(p->e->target, '/') || strcmp(p->e->name, "..") == 0 ||
                  strcmp(p->e->target, "..") == 0;

    st_watch_members(watch, &members);
    if (strays || !watch->can_freeze || !st_process_is_member(p->e->tid, &members))
        return -EPERM;
    return st_own_mount(NULL, init, p->at) && st_own_mount(NULL, init, p->target) &&
                   st_own_mount(NULL, init, p->base)
               ? 0
               : -EPERM;
}

/* ---- who it is for ---- */

static const char *line_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? at + strlen(name) : NULL;
}

static int read_credentials(const struct performer *p, struct credentials *c)
{
    char path[32], text[16384], *end;
    const char *uid, *gid, *mask, *caps, *groups;

    snprintf(path, sizeof(path), "%d/status", (int)p->e->tid);
    if (st_read_small_at(p->proc, path, text, sizeof(text)) < 0)
        return -ESRCH;
    /* The kernel escapes newlines in the name, which comes first: no line after it is forged. */
    uid = line_of(text, "\nUid:\t");
    gid = line_of(text, "\nGid:\t");
    mask = line_of(text, "\nUmask:\t");
    caps = line_of(text, "\nCapEff:\t");
    groups = line_of(text, "\nGroups:\t");
    if (!uid || !gid || !mask || !caps || !groups)
        return -ESRCH;
    for (int i = 0; i < 4; i++, uid = end) /* real, effective, saved, file system */
        c->uid = (uid_t)strtoul(uid, &end, 10);
    for (int i = 0; i < 4; i++, gid = end)
        c->gid = (gid_t)strtoul(gid, &end, 10);
    c->umask = (mode_t)strtoul(mask, NULL, 8);
    c->capabilities = strtoull(caps, NULL, 16);
    while (*groups && *groups != '\n' && c->n_groups < GROUPS_MAX) {
        c->groups[c->n_groups] = (gid_t)strtoul(groups, &end, 10);
        if (end == groups)
            break;
        c->n_groups++;
        groups = end + (*end == ' ');
    }
    return 0;
}

static bool in_other_namespace(const struct performer *p, const char *name)
{
    char theirs[48], ours[32];
    struct stat a, b;

    snprintf(theirs, sizeof(theirs), "%d/ns/%s", (int)p->e->tid, name);
    snprintf(ours, sizeof(ours), "self/ns/%s", name);
    return fstatat(p->proc, theirs, &a, 0) < 0 || fstatat(p->proc, ours, &b, 0) < 0 || a.st_ino != b.st_ino ||
           a.st_dev != b.st_dev;
}

static int enter(const struct performer *p, const char *name, int type)
{
    char path[48];
    st_auto_fd ns = -1;

    if (!in_other_namespace(p, name))
        return 0;
    snprintf(path, sizeof(path), "%d/ns/%s", (int)p->e->tid, name);
    ns = openat(p->proc, path, O_RDONLY | O_CLOEXEC);
    return ns < 0 || setns(ns, type) < 0 ? -errno : 0;
}

static int become(const struct performer *p)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    struct credentials c = {0};
    int rc = enter(p, "user", CLONE_NEWUSER);

    /* Read after that: numbers are then those of the task's own user namespace. */
    if (rc == 0)
        rc = read_credentials(p, &c);
    if (rc < 0)
        return rc;
    if (prctl(PR_SET_KEEPCAPS, 1) < 0 || (setgroups(c.n_groups, c.groups) < 0 && c.n_groups > 0) ||
        setresgid(c.gid, c.gid, c.gid) < 0 || setresuid(c.uid, c.uid, c.uid) < 0)
        return -errno;
    data[0].effective = data[0].permitted = (uint32_t)c.capabilities;
    data[1].effective = data[1].permitted = (uint32_t)(c.capabilities >> 32);
    if (syscall(SYS_capset, &head, data) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    umask(c.umask);
    return 0;
}

/* ---- a writable copy of a mount ---- */

static int writable_copy(int fd)
{
    struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
    st_auto_fd tree =
        (int)syscall(SYS_open_tree, fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

    if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
        return -errno;
    return st_steal_fd(&tree);
}

/* The same directory, below the copy. */
static int find_again(int copy, const char *path, int original)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    st_auto_fd fd = -1;
    struct stat a, b;

    while (*path == '/')
        path++;
    fd = (int)syscall(SYS_openat2, copy, *path ? path : ".", &how, sizeof(how));
    if (fd < 0)
        return -errno;
    if (fstat(fd, &a) < 0 || fstat(original, &b) < 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return -ESTALE;
    return st_steal_fd(&fd);
}

static int relax(struct performer *p)
{
    bool two = p->e->kind == ST_ERRAND_RENAME || p->e->kind == ST_ERRAND_LINK;
    int rc = enter(p, "mnt", CLONE_NEWNS), copy;

    if (rc < 0)
        return rc;
    copy = writable_copy(two ? p->base : p->at);
    if (copy < 0)
        return copy;
    if (!two) {
        p->at = copy;
        return 0;
    }
    rc = find_again(copy, p->e->path, p->at);
    if (rc < 0)
        return rc;
    p->at = rc;
    rc = find_again(copy, p->e->target_path, p->target);
    if (rc < 0)
        return rc;
    p->target = rc;
    return 0;
}

/* ---- the calls ---- */

/* Reopen the object that an fd is of, by our own /proc. */
static int reopen(const struct performer *p, int fd, int flags)
{
    char number[16];
    struct stat sb;
    int out;

    if (fstat(fd, &sb) < 0)
        return -errno;
    if (!S_ISREG(sb.st_mode))
        return -EOPNOTSUPP;
    snprintf(number, sizeof(number), "%d", fd);
    out = openat(p->fds, number, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC | O_NOCTTY);
    return out < 0 ? -errno : out;
}

static int do_open(struct performer *p)
{
    const struct st_errand *e = p->e;
    struct stat sb;
    int fd;

    if ((e->flags & O_TMPFILE) == O_TMPFILE) {
        fd = openat(p->at, ".", (int)(e->flags | O_CLOEXEC), e->mode);
        fd = fd < 0 ? -errno : fd;
    } else if (!e->by_name) {
        fd = reopen(p, p->at, (int)e->flags);
    } else {
        fd = openat(p->at, e->name,
                    (int)(e->flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), e->mode);
        fd = fd < 0 ? -errno : fd;
        if (fd >= 0 && !(e->flags & O_NONBLOCK))
            fcntl(fd, F_SETFL, (int)(e->flags & ~(unsigned)O_NONBLOCK));
    }
    if (fd < 0)
        return fd;
    if (fstat(fd, &sb) < 0 || !S_ISREG(sb.st_mode)) {
        close(fd);
        return -EOPNOTSUPP;
    }
    p->result = fd;
    return 0;
}

static int do_truncate(const struct performer *p)
{
    st_auto_fd fd = reopen(p, p->at, O_WRONLY);

    if (fd < 0)
        return fd;
    return ftruncate(fd, p->e->length) < 0 ? -errno : 0;
}

static int do_mknod(const struct performer *p)
{
    mode_t type = p->e->mode & S_IFMT;

    if (type != 0 && !S_ISREG(type) && !S_ISFIFO(type) && !S_ISSOCK(type))
        return -EOPNOTSUPP;
    return mknodat(p->at, p->e->name, p->e->mode, 0) < 0 ? -errno : 0;
}

static int do_attribute(const struct performer *p)
{
    const struct st_errand *e = p->e;
    char number[16];
    int rc;

    snprintf(number, sizeof(number), "%d", p->at);
    if (e->kind == ST_ERRAND_CHMOD)
        rc = fchmodat(p->fds, number, e->mode, 0);
    else if (e->kind == ST_ERRAND_CHOWN)
        rc = fchownat(p->fds, number, e->uid, e->gid, 0);
    else
        rc = utimensat(p->fds, number, e->times, 0);
    return rc < 0 ? -errno : 0;
}

static int act(struct performer *p)
{
    const struct st_errand *e = p->e;
    int rc;

    switch (e->kind) {
    case ST_ERRAND_OPEN: return do_open(p);
    case ST_ERRAND_TRUNCATE: return do_truncate(p);
    case ST_ERRAND_MKNOD: return do_mknod(p);
    case ST_ERRAND_CHMOD:
    case ST_ERRAND_CHOWN:
    case ST_ERRAND_UTIMES: return do_attribute(p);
    case ST_ERRAND_MKDIR: rc = mkdirat(p->at, e->name, e->mode); break;
    case ST_ERRAND_SYMLINK: rc = symlinkat(e->text, p->at, e->name); break;
    case ST_ERRAND_UNLINK: rc = unlinkat(p->at, e->name, 0); break;
    case ST_ERRAND_RMDIR: rc = unlinkat(p->at, e->name, AT_REMOVEDIR); break;
    case ST_ERRAND_RENAME:
        rc = (int)syscall(SYS_renameat2, p->at, e->name, p->target, e->target, e->flags);
        break;
    case ST_ERRAND_LINK: rc = linkat(p->at, e->name, p->target, e->target, 0); break;
    default: return -EOPNOTSUPP;
    }
    return rc < 0 ? -errno : 0;
}

/* The container's root, where nobody else uses its file system, is watched by that: then new mounts of it
 * are too. */
static enum st_fan_target target_of(const struct performer *p, const struct st_order *order)
{
    st_auto_mounts container = {0}, host = {0};
    uint64_t id = st_mount_of(p->at);

    if (st_marks_is_hosts(p->at) || st_mounts_read(order->pid, &container, NULL) < 0 ||
        st_mounts_read(0, &host, NULL) < 0)
        return ST_FAN_MOUNT;
    for (size_t i = 0; i < container.n; i++)
        if ((uint64_t)container.list[i].id == id &&
            st_marks_owns_superblock(&container.list[i], "/", &host, order->rootfs))
            return ST_FAN_SUPERBLOCK;
    return ST_FAN_MOUNT;
}

/* With our own rights: a mark needs them. Where the container has the host's mounts there is nothing that may
 * be marked. */
static int mark(const struct performer *p, const struct st_watch *watch)
{
    char path[32];
    struct stat own, theirs;

    snprintf(path, sizeof(path), "%d/ns/mnt", (int)watch->order.pid);
    if (fstatat(p->proc, "self/ns/mnt", &own, 0) < 0 || fstatat(p->proc, path, &theirs, 0) < 0)
        return -errno;
    if (own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino)
        return -EPERM;
    return st_fan_mark(watch->fan, target_of(p, &watch->order), st_fan_decide_mask(), p->at);
}

_Noreturn void st_errand_perform(const struct st_watch *watch, const struct st_errand *e,
                                 const int fds[ST_ERRAND_FDS])
{
    struct performer p = {.e = e,
                          .reply = fds[ST_ERRAND_REPLY],
                          .at = fds[ST_ERRAND_AT],
                          .target = fds[ST_ERRAND_TARGET],
                          .base = fds[ST_ERRAND_BASE],
                          .result = -1};
    sigset_t none;
    int rc;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(LIMIT_S);
    p.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    p.fds = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    rc = p.proc < 0 || p.fds < 0 ? -errno : 0;
    if (rc == 0)
        rc = check(&p, watch);
    if (rc == 0 && e->kind == ST_ERRAND_MARK) {
        st_errand_answer(p.reply, -mark(&p, watch), -1);
        _exit(0);
    }
    if (rc == 0 && e->relax)
        rc = relax(&p);
    if (rc == 0)
        rc = become(&p);
    if (rc == 0)
        rc = act(&p);
    st_errand_answer(p.reply, -rc, p.result);
    _exit(0);
}
