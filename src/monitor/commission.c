/* commission: see commission.h. */
#include "monitor/commission.h"

#include "base/cleanup.h"
#include "base/mountinfo.h"
#include "oci/landlock_words.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <utime.h>

/* ---- the floor ---- */

static bool is_readonly(int fd)
{
    struct statvfs v;

    return fd >= 0 && fstatvfs(fd, &v) == 0 && (v.f_flag & ST_RDONLY);
}

/* Where what is changed lies: an entry in its directory, an object by itself. */
static bool is_entry(const struct st_commission *c)
{
    return c->request->what->kind == ST_MUT_CREATE || c->request->what->kind == ST_MUT_BIND ||
           c->request->what->kind == ST_MUT_DELETE || c->request->what->kind == ST_MUT_RENAME ||
           !c->object->there;
}

static int place_of(const struct st_commission *c)
{
    if (is_entry(c))
        return c->object->parent;
    st_resolved_open(c->object);
    return c->object->object;
}

/* A mount that was seen writable is none of the floor, which was there, read-only, before the container ran
 * and stays so. Were its number that of a read-only mount by now, nothing is let for that: the task makes the
 * call itself, and the kernel refuses it. */
static bool is_known_writable(const struct st_commission *c, uint64_t mount)
{
    return st_mount_remembered(c->writable, mount);
}

static bool may_need_relief(const struct st_commission *c)
{
    uint64_t mount = is_entry(c) ? st_resolved_mount(c->object) : c->object->mount;
    int fd;

    if (is_known_writable(c, mount))
        return false;
    fd = place_of(c);
    if (fd >= 0 && !is_readonly(fd)) {
        st_mount_remember(c->writable, mount);
        return false;
    }
    return fd >= 0;
}

static bool target_may_need_relief(const struct st_commission *c)
{
    return c->target->parent >= 0 && !is_known_writable(c, st_resolved_mount(c->target)) &&
           is_readonly(c->target->parent);
}

static const char *point_of(const struct st_mounts *mounts, uint64_t id)
{
    for (size_t i = 0; id && i < mounts->n; i++)
        if ((uint64_t)mounts->list[i].id == id)
            return mounts->list[i].point;
    return NULL;
}

static bool is_floor(const struct st_order *order, const char *point)
{
    if (!point)
        return false;
    if (strcmp(point, "/") == 0)
        return order->floor_root;
    for (size_t i = 0; i < order->n_floor_points; i++)
        if (strcmp(order->floor_points[i], point) == 0)
            return true;
    return false;
}

static bool needs_relief(const struct st_order *order, const struct st_mounts *mounts, int fd)
{
    return is_readonly(fd) && is_floor(order, point_of(mounts, st_mount_of(fd)));
}

/* To open a device or a pipe changes nothing of the file system: a read-only mount is not in its way. */
static bool opens_special(const struct st_commission *c)
{
    return c->request->what->kind == ST_MUT_OPEN && c->object->there && !S_ISREG(c->object->sb.st_mode) &&
           !S_ISDIR(c->object->sb.st_mode);
}

static bool on_mounts(const struct st_commission *c, const struct st_order *order)
{
    st_auto_mounts mounts = {0};

    if (opens_special(c))
        return false;
    if (!order->floor || (!may_need_relief(c) && !target_may_need_relief(c)))
        return false;
    if (st_mounts_read(order->pid, &mounts, NULL) < 0)
        return false;
    return needs_relief(order, &mounts, place_of(c)) || needs_relief(order, &mounts, c->target->parent);
}

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return len == 1 || (strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/'));
}

/* Does a rule of Landlock's floor speak for it? */
static bool is_ruled(const struct st_order *order, const struct st_resolved *r, bool content)
{
    for (size_t i = 0; i < order->n_landlock_rules; i++) {
        const char *rule = order->landlock_rules[i];

        if ((rule[0] == ST_LANDLOCK_TREE || (content && rule[0] == ST_LANDLOCK_FILES)) &&
            is_below(r->path, rule + 1))
            return true;
    }
    return false;
}

/* It has no say in attributes, nor in what has no name. */
static bool on_landlock(const struct st_commission *c, const struct st_order *order)
{
    enum st_mutation_kind kind = c->request->what->kind;
    bool content = (kind == ST_MUT_OPEN || kind == ST_MUT_MODIFY) && c->object->there;

    if (!order->landlock_abi || kind == ST_MUT_ATTRIB || opens_special(c))
        return false;
    return (c->object->path_len && !is_ruled(order, c->object, content)) ||
           (c->target->path_len && !is_ruled(order, c->target, false));
}

bool st_commission_on_floor(const struct st_commission *c, const struct st_order *order)
{
    return on_landlock(c, order) || on_mounts(c, order);
}

/* ---- numbers ---- */

/* Which argument is the first after the path (and its directory). */
static const __u64 *numbers(const struct st_commission *c)
{
    const struct st_mutation_object *o = &c->request->what->object;

    return &c->call->args[(o->path == ST_ARG_NONE ? o->dir : o->path) + 1];
}

static bool read_memory(const struct st_commission *c, uint64_t address, void *out, size_t n)
{
    pid_t tid = c->tid;

    return st_memory_of_task(&tid, address, out, n) == (ssize_t)n;
}

static int read_times(const struct st_commission *c, struct st_errand *e)
{
    uint64_t address = *numbers(c);
    const char *name = c->request->what->name;
    struct timeval tv[2];
    struct utimbuf ub;

    e->times[0] = e->times[1] = (struct timespec){.tv_nsec = UTIME_NOW};
    if (address == 0)
        return 0;
    if (strcmp(name, "utimensat") == 0)
        return read_memory(c, address, e->times, sizeof(e->times)) ? 0 : -EFAULT;
    if (strcmp(name, "utime") == 0) {
        if (!read_memory(c, address, &ub, sizeof(ub)))
            return -EFAULT;
        e->times[0] = (struct timespec){.tv_sec = ub.actime};
        e->times[1] = (struct timespec){.tv_sec = ub.modtime};
        return 0;
    }
    if (!read_memory(c, address, tv, sizeof(tv)))
        return -EFAULT;
    for (int i = 0; i < 2; i++)
        e->times[i] = (struct timespec){tv[i].tv_sec, tv[i].tv_usec * 1000};
    return 0;
}

static int attribute(const struct st_commission *c, struct st_errand *e)
{
    const char *name = c->request->what->name;

    if (c->object->there && S_ISLNK(c->object->sb.st_mode))
        return -EOPNOTSUPP;
    if (strstr(name, "chmod")) {
        e->kind = ST_ERRAND_CHMOD;
        e->mode = (uint32_t)numbers(c)[0];
        return 0;
    }
    if (strstr(name, "chown")) {
        e->kind = ST_ERRAND_CHOWN;
        e->uid = (uint32_t)numbers(c)[0];
        e->gid = (uint32_t)numbers(c)[1];
        return 0;
    }
    if (strstr(name, "utime")) {
        e->kind = ST_ERRAND_UTIMES;
        return read_times(c, e);
    }
    return -EOPNOTSUPP; /* extended attributes, flags */
}

static int create(const struct st_commission *c, struct st_errand *e)
{
    const char *name = c->request->what->name;
    uint64_t text = c->call->args[0];

    e->mode = (uint32_t)numbers(c)[0];
    e->by_name = 1;
    if (strncmp(name, "mkdir", 5) == 0)
        e->kind = ST_ERRAND_MKDIR;
    else if (strncmp(name, "mknod", 5) == 0)
        e->kind = ST_ERRAND_MKNOD;
    else
        e->kind = ST_ERRAND_SYMLINK;
    if (e->kind != ST_ERRAND_SYMLINK)
        return 0;
    for (size_t i = 0; i < sizeof(e->text); i++) {
        if (!read_memory(c, text + i, &e->text[i], 1))
            return -EFAULT;
        if (e->text[i] == '\0')
            return 0;
    }
    return -ENAMETOOLONG;
}

static void open_or_make(const struct st_commission *c, struct st_errand *e)
{
    e->kind = ST_ERRAND_OPEN;
    e->flags = (uint32_t)c->request->flags;
    e->mode = (uint32_t)(c->request->what->flags == ST_ARG_NONE ? numbers(c)[0]
                                                                : c->call->args[c->request->what->flags + 1]);
    e->mode &= 07777;
    e->by_name = !c->object->there;
}

static int choose(const struct st_commission *c, struct st_errand *e)
{
    if (opens_special(c))
        return -EOPNOTSUPP; /* a terminal, for one, is the task's own */
    switch (c->request->what->kind) {
    case ST_MUT_OPEN: open_or_make(c, e); return 0;
    case ST_MUT_CREATE: return create(c, e);
    case ST_MUT_DELETE:
        e->kind = S_ISDIR(c->object->sb.st_mode) ? ST_ERRAND_RMDIR : ST_ERRAND_UNLINK;
        e->by_name = 1;
        return 0;
    case ST_MUT_RENAME:
    case ST_MUT_LINK:
        e->kind = c->request->what->kind == ST_MUT_RENAME ? ST_ERRAND_RENAME : ST_ERRAND_LINK;
        e->flags = (uint32_t)c->request->flags;
        e->by_name = 1;
        return c->object->parent < 0 ? -EOPNOTSUPP : 0;
    case ST_MUT_MODIFY:
        e->kind = ST_ERRAND_TRUNCATE;
        e->length = (int64_t)numbers(c)[0];
        return 0;
    case ST_MUT_ATTRIB: return attribute(c, e);
    case ST_MUT_BIND: return -EOPNOTSUPP;
    }
    return -EOPNOTSUPP;
}

/* ---- two directories in one copy ---- */

/* The directory of a resolved entry, as the container sees it. */
static int directory_of(const struct st_resolved *r, char out[PATH_MAX])
{
    size_t tail = strlen(r->name), len = r->path_len;

    if (len <= tail || len - tail >= PATH_MAX)
        return -ENAMETOOLONG;
    len -= tail;
    if (len > 1)
        len--; /* the slash */
    memcpy(out, r->path, len);
    out[len] = '\0';
    return 0;
}

/* One mount that both lie in, or would if the scope had no mounts of its own: the root's. */
static int find_base(const struct st_commission *c, const struct st_order *order, struct st_errand *e)
{
    st_auto_mounts mounts = {0};
    st_auto_fd root = -1;
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    const char *point = "/";
    char link[32];
    int fd;

    if (st_mounts_read(order->pid, &mounts, NULL) < 0)
        return -EIO;
    if (st_mount_of(c->object->parent) == st_mount_of(c->target->parent))
        point = point_of(&mounts, st_mount_of(c->object->parent));
    if (!point || directory_of(c->object, e->path) < 0 || directory_of(c->target, e->target_path) < 0 ||
        !is_below(e->path, point) || !is_below(e->target_path, point))
        return -EOPNOTSUPP;
    snprintf(link, sizeof(link), "/proc/%d/root", (int)order->pid);
    root = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd = root < 0 ? -1 : (int)syscall(SYS_openat2, root, point, &how, sizeof(how));
    if (fd < 0)
        return -errno;
    if (strcmp(point, "/") != 0) {
        size_t len = strlen(point);

        memmove(e->path, e->path + len, strlen(e->path) - len + 1);
        memmove(e->target_path, e->target_path + len, strlen(e->target_path) - len + 1);
    }
    return fd;
}

int st_commission_make(const struct st_commission *c, const struct st_order *order, struct st_errand *e,
                       int fds[ST_ERRAND_FDS], int *base)
{
    int rc;

    *e = (struct st_errand){.tid = c->tid};
    *base = -1;
    rc = choose(c, e);
    if (rc < 0)
        return rc;
    rc = e->by_name ? 0 : st_resolved_open(c->object);
    if (rc < 0)
        return rc;
    fds[ST_ERRAND_AT] = e->by_name ? c->object->parent : c->object->object;
    fds[ST_ERRAND_TARGET] = c->target->parent >= 0 ? c->target->parent : fds[ST_ERRAND_AT];
    fds[ST_ERRAND_BASE] = fds[ST_ERRAND_AT];
    if (fds[ST_ERRAND_AT] < 0)
        return -EOPNOTSUPP;
    memcpy(e->name, c->object->name, sizeof(e->name));
    memcpy(e->target, c->target->name, sizeof(e->target));
    e->relax = on_mounts(c, order);
    /* By an fd, and nothing in its way: the task's own call is as good. */
    if (c->request->object.by_fd && !e->relax)
        return -EOPNOTSUPP;
    if (!e->relax || c->target->parent < 0)
        return 0;
    *base = find_base(c, order, e);
    fds[ST_ERRAND_BASE] = *base;
    return *base < 0 ? *base : 0;
}
