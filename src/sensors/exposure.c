/* exposure: see exposure.h. */
#include "sensors/exposure.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "sensors/marks.h"
#include "sensors/places.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct look {
    const struct st_exposure_order *order;
    struct st_exposed *out;
    const struct st_mount *mount; /* the one that is looked at */
    int root;                     /* of the first process: still the machine's own */
    bool own_users;               /* it has a user namespace of its own */
};

__attribute__((format(printf, 3, 4))) static void expose(struct look *l, enum st_exposure which,
                                                         const char *format, ...)
{
    va_list ap;

    if (l->out->what[which][0])
        return;
    va_start(ap, format);
    vsnprintf(l->out->what[which], ST_EXPOSED_TEXT, format, ap);
    va_end(ap);
}

/* Where the container will have the mount. */
static const char *point_of(const struct look *l)
{
    const char *inner = l->mount->point + (l->order->rootfs[1] ? strlen(l->order->rootfs) : 0);

    return *inner ? inner : "/";
}

static bool is_type(const struct st_mount *m, const char *type)
{
    return strcmp(m->type, type) == 0;
}

/* By the mount and by the file system: either may be read-only alone. */
static bool is_writable(const struct st_mount *m)
{
    return !st_option_has(m->options, "ro") && !st_option_has(m->super, "ro");
}

/* ---- namespaces ---- */

static bool shares(pid_t pid, const char *kind)
{
    char own_path[48], path[48];
    struct stat own, theirs;

    snprintf(own_path, sizeof(own_path), "/proc/self/ns/%s", kind);
    snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
    /* What can't be told counts as shared. */
    return stat(own_path, &own) < 0 || stat(path, &theirs) < 0 ||
           (own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino);
}

/* ---- procfs ---- */

/* A file system of processes of which we are one. Of a part of it this can't be asked: then it counts where
 * it is one that the machine has mounted. */
static bool shows_us(const struct look *l, const struct st_mount *m)
{
    st_auto_fd fd = -1;
    char text[16];

    if (strcmp(m->root, "/") != 0) {
        const struct st_mounts *host = &l->order->mounts->ours;

        for (size_t i = 0; i < host->n; i++)
            if (host->list[i].major == m->major && host->list[i].minor == m->minor)
                return true;
        return false;
    }
    fd = st_marks_open(l->root, m);
    if (fd == -ESTALE)
        return false; /* covered by another mount, which is looked at too */
    return fd < 0 || readlinkat(fd, "self", text, sizeof(text)) >= 0 || errno != ENOENT;
}

/* ---- the kernel's own ---- */

static bool is_kernels(const struct st_mount *m)
{
    static const char *const types[] = {"sysfs", "debugfs", "tracefs",  "securityfs", "configfs",
                                        "bpf",   "pstore",  "efivarfs", "selinuxfs",  "binfmt_misc"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (is_type(m, types[i]))
            return true;
    return false;
}

static bool is_closing(const struct look *l)
{
    for (const char *const *at = l->order->closing; at && *at; at++)
        if (strcmp(point_of(l), *at) == 0)
            return true;
    return false;
}

static void look_for_writable(struct look *l)
{
    const struct st_mount *m = l->mount;
    enum st_exposure which = is_kernels(m) ? ST_EXPOSED_KERNEL : ST_EXPOSED_GROUPS;

    if (which == ST_EXPOSED_KERNEL ? l->own_users : !is_type(m, "cgroup") && !is_type(m, "cgroup2"))
        return;
    if (!is_writable(m))
        return;
    if (is_closing(l))
        l->out->closing = true;
    else
        expose(l, which, "%s (%s) is writable", point_of(l), m->type);
}

static void look_at_kernel(struct look *l)
{
    if (is_type(l->mount, "proc") && shows_us(l, l->mount))
        expose(l, ST_EXPOSED_PIDS, "by its mount %s", point_of(l));
    look_for_writable(l);
}

/* ---- files of the machine ---- */

enum { ENGINE, STORE, SECRET, KEPT };

void st_exposure_gather(const struct st_mounts *host, const char *const *secret, const char *const *kept,
                        struct st_places *out)
{
    for (const char *const *path = secret; *path; path++)
        st_places_add(out, host, *path, SECRET);
    for (const char *const *path = kept; *path; path++)
        st_places_add(out, host, *path, KEPT);
    st_places_add_stores(out, host, STORE);
    st_places_add_engines(out, host, ENGINE);
}

/* Volumes, and the roots of containers, lie below an engine's store: only the whole of it counts. */
static void look_for_places(struct look *l, const struct st_mount *m)
{
    for (size_t i = 0; i < l->order->places->n; i++) {
        const struct st_place *p = &l->order->places->list[i];
        bool ours = p->kind == SECRET || p->kind == KEPT, write = p->kind == STORE || p->kind == KEPT;

        if ((write && !is_writable(m)) || (!st_place_in(p, m) && (p->kind == STORE || !st_place_above(p, m))))
            continue;
        expose(l, ours ? ST_EXPOSED_US : ST_EXPOSED_ENGINE, "%s%s through its mount %s", p->name,
               write ? ", and write it," : "", point_of(l));
    }
}

/* What a mount of an overlay shows of a layer: the same part of it. Where directories can have been renamed,
 * any. */
static char *part_of_layer(const struct st_mount *overlay, const char *layer)
{
    bool whole = strcmp(overlay->root, "/") == 0 || st_option_has(overlay->super, "redirect_dir=on");

    return whole ? st_xstrdup(layer)
                 : st_xasprintf("%s%s", strcmp(layer, "/") == 0 ? "" : layer, overlay->root);
}

/* The layers of an overlay are seen through it, under a device of its own. */
static void look_through_overlay(struct look *l)
{
    for (const char *at = strstr(l->mount->super, "dir"); at; at = strstr(at + 1, "dir")) {
        const char *list = strchr(at, '=');
        st_auto_free char *layers = list ? st_xstrndup(list + 1, strcspn(list + 1, ",")) : NULL;
        st_auto_places found = {0};
        char *save = NULL;

        for (char *dir = layers ? strtok_r(layers, ":", &save) : NULL; dir; dir = strtok_r(NULL, ":", &save))
            if (dir[0] == '/')
                st_places_add(&found, &l->order->mounts->ours, dir, 0);
        for (size_t i = 0; i < found.n; i++) {
            st_auto_free char *root = part_of_layer(l->mount, found.list[i].path);
            struct st_mount layer = *l->mount;

            layer.major = found.list[i].major;
            layer.minor = found.list[i].minor;
            layer.root = root;
            layer.options = "ro"; /* what is written goes elsewhere */
            look_for_places(l, &layer);
        }
    }
}

/* ---- all of it ---- */

static bool is_containers(const struct look *l, const struct st_mount *m)
{
    size_t len = strlen(l->order->rootfs);

    return len == 1 ||
           (strncmp(m->point, l->order->rootfs, len) == 0 && (m->point[len] == '\0' || m->point[len] == '/'));
}

static int look_at_mounts(struct look *l, struct st_error *err)
{
    const struct st_mounts *mounts = &l->order->mounts->theirs;
    bool found = false;

    for (size_t i = 0; i < mounts->n; i++) {
        l->mount = &mounts->list[i];
        if (!is_containers(l, l->mount))
            continue;
        found |= strcmp(l->mount->point, l->order->rootfs) == 0;
        look_at_kernel(l);
        if (st_marks_skip(l->mount))
            continue;
        look_for_places(l, l->mount);
        if (is_type(l->mount, "overlay"))
            look_through_overlay(l);
    }
    if (found)
        return 0;
    return st_fail(err, ENOENT, "the container's root %s is not among its mounts", l->order->rootfs);
}

int st_exposure_find(const struct st_exposure_order *order, struct st_exposed *out, struct st_error *err)
{
    struct look l = {.order = order, .out = out};
    st_auto_fd root = -1;
    char path[32];

    *out = (struct st_exposed){0};
    snprintf(path, sizeof(path), "/proc/%d/root", (int)order->pid);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return st_fail_errno(err, "open %s", path);
    l.root = root;
    l.own_users = !shares(order->pid, "user");
    if (shares(order->pid, "pid"))
        expose(&l, ST_EXPOSED_PIDS, "it shares their pid namespace");
    return look_at_mounts(&l, err);
}

int st_exposure_find_open(pid_t pid, struct st_exposed *out, struct st_error *err)
{
    const struct st_exposure_order order = {.pid = pid, .rootfs = "/"};
    struct look l = {.order = &order, .out = out, .own_users = !shares(pid, "user")};
    st_auto_mounts now = {0};

    *out = (struct st_exposed){0};
    if (st_mounts_read(pid, &now, err) < 0)
        return -err->errnum;
    for (size_t i = 0; i < now.n; i++) {
        l.mount = &now.list[i];
        look_for_writable(&l);
    }
    return 0;
}
