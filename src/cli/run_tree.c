/* run_tree: see run_tree.h. */
#include "cli/run_tree.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/mountinfo.h"
#include "cli/run_etc.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define OURS 8 /* of the configuration, and the built-in ones: another run may use those */
#define LOCAL_ETC "/usr/local/etc"

struct making {
    const struct st_run_place *place;
    struct st_run_tree *out;
    struct st_error *err;
    const char *ours[OURS]; /* directories of sandtrace's own, which it must not see */
    const char *skeleton;
};

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static void add_mount(struct st_run_tree *t, char *source, const char *target, bool readonly)
{
    t->mounts = st_xrealloc(t->mounts, (t->n_mounts + 1) * sizeof(*t->mounts));
    t->mounts[t->n_mounts++] = (struct st_run_mount){source, st_xstrdup(target), readonly};
}

/* ---- overlays ---- */

/* fs/NAME over lower; what is written goes to fs/NAME.up. Returns where it is, or NULL. */
static char *overlay(const struct making *m, const char *name, const char *lower)
{
    st_auto_free char *point = st_xasprintf("%s/%s", m->place->fs, name);
    st_auto_free char *up = st_xasprintf("%s.up", point), *work = st_xasprintf("%s.work", point);
    st_auto_free char *options = st_xasprintf("lowerdir=%s,upperdir=%s,workdir=%s", lower, up, work);
    struct stat sb;
    int rc = stat(lower, &sb);

    if (rc == 0)
        rc = mkdir(point, 0755) < 0 || mkdir(up, sb.st_mode & 01777) < 0 || mkdir(work, 0755) < 0 ? -1 : 0;
    /* The root of an overlay is as its upper directory is. */
    if (rc == 0)
        rc = chown(up, sb.st_uid, sb.st_gid) < 0 || chmod(up, sb.st_mode & 01777) < 0 ? -1 : 0;
    if (rc == 0)
        rc = mount("overlay", point, "overlay", MS_NOSUID | MS_NODEV, options);
    if (rc < 0) {
        st_fail_errno(m->err, "an overlay over %s", lower);
        return NULL;
    }
    return st_steal_ptr(&point);
}

static int add_overlay(const struct making *m, const char *path)
{
    st_auto_free char *name = st_xasprintf("tree%zu", m->out->n_mounts);
    char *point = overlay(m, name, path);

    if (!point)
        return -m->err->errnum;
    add_mount(m->out, point, path, false);
    m->out->n_overlays = m->out->n_mounts;
    return 0;
}

/* A layer ends where another file system is mounted on the host: that gets an overlay of its own. One that
 * the kernel can't take as a layer (some network file systems) stays empty. */
static int add_below(const struct making *m, const char *path)
{
    st_auto_mounts mounts = {0};
    size_t len = strlen(path);

    if (st_mounts_read(0, &mounts, m->err) < 0)
        return -m->err->errnum;
    for (size_t i = 0; i < mounts.n; i++) {
        const char *point = mounts.list[i].point;
        struct st_error passed = {0};
        struct making quiet = *m;
        struct stat sb;

        quiet.err = &passed;
        if (strncmp(point, path, len) == 0 && point[len] == '/' && !strpbrk(point, ",:\\") &&
            stat(point, &sb) == 0 && S_ISDIR(sb.st_mode))
            (void)add_overlay(&quiet, point);
    }
    return 0;
}

static int add_place(const struct making *m, const char *path);

static bool holds_ours(const struct making *m, const char *path)
{
    for (size_t i = 0; i < OURS; i++)
        if (is_below(m->ours[i], path))
            return true;
    return false;
}

static bool is_ours(const struct making *m, const char *path)
{
    for (size_t i = 0; i < OURS; i++)
        if (is_below(path, m->ours[i]))
            return true;
    return false;
}

/* Where sandtrace was installed below it, with keys and all (/usr/local): each part but ours for itself. */
static int add_parts(const struct making *m, const char *path)
{
    st_auto_dir dir = opendir(path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        st_auto_free char *part = st_xasprintf("%s/%s", path, entry->d_name);

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && !is_ours(m, part) &&
            add_place(m, part) < 0)
            return -m->err->errnum;
    }
    return 0;
}

/* Of the host: a link stays a link (/bin on most machines), a directory gets an overlay. */
static int add_place(const struct making *m, const char *path)
{
    st_auto_free char *copy = st_xasprintf("%s%s", m->skeleton, path);
    char target[PATH_MAX];
    struct stat sb;
    ssize_t n;

    if (strpbrk(path, ",:\\") || lstat(path, &sb) < 0)
        return 0; /* the first have a meaning of their own where layers are named */
    if (S_ISLNK(sb.st_mode) && (n = readlink(path, target, sizeof(target) - 1)) > 0) {
        target[n] = '\0';
        return symlink(target, copy) < 0 ? st_fail_errno(m->err, "make %s", copy) : 0;
    }
    if (!S_ISDIR(sb.st_mode))
        return 0;
    if (st_mkdir_p(copy, 0755, m->err) < 0)
        return -m->err->errnum;
    if (strcmp(path, LOCAL_ETC) == 0)
        return 0; /* a copy comes there */
    if (holds_ours(m, path))
        return add_parts(m, path);
    return add_overlay(m, path) < 0 ? -m->err->errnum : add_below(m, path);
}

static int add_programs(const struct making *m)
{
    static const char *const places[] = {"/usr",   "/bin",    "/sbin",         "/lib",         "/lib32",
                                         "/lib64", "/libx32", "/var/lib/dpkg", "/var/lib/rpm", "/nix/store"};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (add_place(m, places[i]) < 0)
            return -m->err->errnum;
    return 0;
}

/* Configuration of the machine's own programs: treated as /etc is. */
static int add_local_etc(const struct making *m)
{
    static const char place[] = LOCAL_ETC;
    char *copy;
    struct stat sb;

    if (lstat(place, &sb) < 0 || !S_ISDIR(sb.st_mode))
        return 0;
    copy = st_xasprintf("%s/local-etc", m->place->fs);
    add_mount(m->out, copy, place, false);
    m->out->n_overlays = m->out->n_mounts;
    if (mkdir(copy, 0755) < 0)
        return st_fail_errno(m->err, "make %s", copy);
    return st_run_copy_etc(place, copy, &m->out->left_out, m->err);
}

/* ---- the root ---- */

static int make_skeleton(const struct making *m, const struct st_run_who *who)
{
    const char *skeleton = m->skeleton;
    static const struct {
        const char *name;
        mode_t mode;
    } dirs[] = {{"dev", 0755},     {"etc", 0755},       {"home", 0755},     {"media", 0755},
                {"mnt", 0755},     {"opt", 0755},       {"proc", 0755},     {"root", 0700},
                {"run", 0755},     {"run/lock", 01777}, {"srv", 0755},      {"sys", 0755},
                {"tmp", 01777},    {"tmp/home", 0700},  {"var", 0755},      {"var/cache", 0755},
                {"var/lib", 0755}, {"var/log", 0755},   {"var/tmp", 01777}, {"workspace", 0755}};
    st_auto_fd dir = -1;

    if (mkdir(skeleton, 0755) < 0 || (dir = open(skeleton, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return st_fail_errno(m->err, "make %s", skeleton);
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
        if (mkdirat(dir, dirs[i].name, dirs[i].mode) < 0 || fchmodat(dir, dirs[i].name, dirs[i].mode, 0) < 0)
            return st_fail_errno(m->err, "make %s/%s", skeleton, dirs[i].name);
    if (symlinkat("/run", dir, "var/run") < 0 || symlinkat("/run/lock", dir, "var/lock") < 0 ||
        fchownat(dir, &ST_RUN_HOME[1], who->uid, who->gid, 0) < 0)
        return st_fail_errno(m->err, "make %s", skeleton);
    return 0;
}

static int make_root(const struct making *m, const struct st_run_args *args, const struct st_run_who *who)
{
    st_auto_free char *etc = st_xasprintf("%s/etc", m->skeleton);

    if (make_skeleton(m, who) < 0 || st_run_copy_etc("/etc", etc, &m->out->left_out, m->err) < 0 ||
        st_run_write_etc(etc, args->network, m->err) < 0 || add_programs(m) < 0 || add_local_etc(m) < 0)
        return -m->err->errnum;
    m->out->rootfs = overlay(m, "root", m->skeleton);
    return m->out->rootfs ? 0 : -m->err->errnum;
}

/* ---- what is bound ---- */

/* Where in the run's own file system the place in the container is now: below the last overlay that holds it.
 */
static const char *tree_of(const struct st_run_tree *t, const char *target, const char **rest)
{
    const char *found = t->rootfs;

    *rest = target + 1;
    for (size_t i = 0; i < t->n_overlays; i++) {
        size_t len = strlen(t->mounts[i].target);

        if (strncmp(target, t->mounts[i].target, len) == 0 && target[len] == '/') {
            found = t->mounts[i].source;
            *rest = target + len + 1;
        }
    }
    return found;
}

/* A place to mount on, made now: later the tree may be read-only. No link is followed: it would lead to the
 * host. */
static int make_point(const struct making *m, const char *target, bool is_dir)
{
    const char *rest, *base = tree_of(m->out, target, &rest);
    st_auto_fd dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_free char *words = st_xstrdup(rest);
    char *save = NULL, *word = strtok_r(words, "/", &save);

    while (dir >= 0 && word) {
        char *next = strtok_r(NULL, "/", &save);
        int flags = next || is_dir ? O_RDONLY | O_DIRECTORY : O_RDONLY | O_CREAT | O_NONBLOCK, inner;

        if ((next || is_dir) && mkdirat(dir, word, 0755) < 0 && errno != EEXIST)
            break;
        inner = openat(dir, word, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0644);
        st_close(&dir);
        dir = inner;
        word = next;
    }
    if (dir >= 0 && !word)
        return 0;
    return st_fail_errno(m->err, "a place for %s in the container", target);
}

static int bind_one(const struct making *m, const char *given, const char *target, bool readonly)
{
    char *source = realpath(given, NULL);
    struct stat sb;

    if (!source || stat(source, &sb) < 0) {
        free(source);
        return st_fail_errno(m->err, "%s", given);
    }
    if (!st_utf8_valid(source, strlen(source))) {
        free(source);
        return st_fail(m->err, EILSEQ,
                       "%s: its path is no UTF-8, which a container's configuration wants; rename it, or go "
                       "by another path",
                       given);
    }
    add_mount(m->out, source, target ? target : source, readonly);
    target = m->out->mounts[m->out->n_mounts - 1].target;
    if (st_run_check_target(target, m->err) < 0)
        return -m->err->errnum;
    return make_point(m, target, S_ISDIR(sb.st_mode));
}

static int bind_all(const struct making *m, const struct st_run_args *args, const char *workspace)
{
    bool own_workspace = false;

    for (size_t i = 0; i < args->n_binds; i++)
        own_workspace |= args->binds[i].target && strcmp(args->binds[i].target, ST_RUN_WORKSPACE) == 0;
    if (!own_workspace && bind_one(m, workspace, ST_RUN_WORKSPACE, false) < 0)
        return -m->err->errnum;
    for (size_t i = 0; i < args->n_binds; i++)
        if (bind_one(m, args->binds[i].source, args->binds[i].target, args->binds[i].readonly) < 0)
            return st_wrap(m->err, "--bind");
    return 0;
}

/* Of what names the resolver only a mount is believed: that was not the container's to write. */
static int bind_resolver(const struct making *m)
{
    st_auto_free char *file = st_xasprintf("%s/etc/resolv.conf", m->skeleton);

    return bind_one(m, file, "/etc/resolv.conf", true);
}

/* By whatever links it is named. */
static char *real(const char *path)
{
    char *out = realpath(path, NULL);

    return out ? out : st_xstrdup(path);
}

int st_run_tree_make(const struct st_run_place *place, const struct st_config *config,
                     const struct st_run_args *args, const struct st_run_who *who, const char *init,
                     const char *workspace, struct st_run_tree *out, struct st_error *err)
{
    static const char built_in_keys[] = ST_SYSCONFDIR "/keys";
    st_auto_free char *skeleton = st_xasprintf("%s/skeleton", place->fs), *keys = real(config->key_dir),
                      *run = real(config->state_dir), *traces = real(config->log_dir),
                      *kept = real(config->quarantine_dir);
    struct making m = {.place = place,
                       .out = out,
                       .err = err,
                       .ours = {keys, run, traces, kept, built_in_keys, ST_RUNDIR, ST_LOGDIR, ST_LIBDIR},
                       .skeleton = skeleton};

    *out = (struct st_run_tree){0};
    if (make_root(&m, args, who) < 0 || bind_resolver(&m) < 0 || bind_one(&m, init, ST_RUN_INIT, true) < 0 ||
        bind_all(&m, args, workspace) < 0)
        return -err->errnum;
    return 0;
}

void st_run_tree_free(struct st_run_tree *t)
{
    for (size_t i = 0; i < t->n_mounts; i++) {
        free(t->mounts[i].source);
        free(t->mounts[i].target);
    }
    free(t->mounts);
    free(t->rootfs);
    *t = (struct st_run_tree){0};
}
