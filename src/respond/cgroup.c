/* cgroup: see cgroup.h. */
#include "respond/cgroup.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mountinfo.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PROC_FILE_MAX (1u << 20)

const char *st_cgroup_kind_name(enum st_cgroup_kind kind)
{
    return kind == ST_CGROUP_V1 ? "v1" : "v2";
}

/* From /proc/PID/cgroup: "6:freezer:/x" or "0::/x". */
int st_cgroup_path_of(pid_t pid, enum st_cgroup_kind kind, char *out, size_t size, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    char file[64];
    char *save = NULL;

    if (pid)
        snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
    else
        snprintf(file, sizeof(file), "/proc/self/cgroup");
    if (st_read_file(file, PROC_FILE_MAX, &text, err) < 0)
        return st_wrap(err, "find the control group");
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *controllers = strchr(line, ':'), *path;

        if (!controllers || !(path = strchr(++controllers, ':')))
            continue;
        *path++ = '\0';
        if (kind == ST_CGROUP_V2 ? strncmp(line, "0:", 2) != 0 : !st_option_has(controllers, "freezer"))
            continue;
        if (strlen(path) >= size)
            return st_fail(err, ENAMETOOLONG, "control group path too long");
        memcpy(out, path, strlen(path) + 1);
        return 0;
    }
    return st_fail(err, ENOENT, "no %s control group in %s", st_cgroup_kind_name(kind), file);
}

const struct st_mount *st_cgroup_hierarchy(const struct st_mounts *mounts, enum st_cgroup_kind kind)
{
    for (size_t i = 0; i < mounts->n; i++) {
        const struct st_mount *m = &mounts->list[i];

        if (kind == ST_CGROUP_V2 ? strcmp(m->type, "cgroup2") == 0
                                 : strcmp(m->type, "cgroup") == 0 && st_option_has(m->super, "freezer"))
            return m;
    }
    return NULL;
}

static bool is_inside(const char *path, const char *group)
{
    size_t len = strlen(group);

    return strncmp(path, group, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* The group must be the container's alone: not the root, and not one that we live in. */
static int refuse_foreign(enum st_cgroup_kind kind, const char *path, struct st_error *err)
{
    char ours[PATH_MAX];

    if (strcmp(path, "/") == 0)
        return st_fail(err, ENOENT, "the container has no control group of its own (%s)",
                       st_cgroup_kind_name(kind));
    if (st_cgroup_path_of(0, kind, ours, sizeof(ours), err) < 0)
        return -err->errnum;
    if (is_inside(ours, path))
        return st_fail(err, EBUSY, "control group %s holds this process too", path);
    return 0;
}

static ino_t pid_namespace(pid_t pid)
{
    char link[64];
    struct stat sb;

    snprintf(link, sizeof(link), "/proc/%d/ns/pid", (int)pid);
    return stat(link, &sb) == 0 ? sb.st_ino : 0;
}

/* Everybody in the group must be the container's first process or share its pid namespace. A container
 * that shares the host's can be told from others only by being alone. */
static int refuse_company(const struct st_cgroup *cg, pid_t init, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    ino_t container_ns = pid_namespace(init);
    bool own_ns = container_ns != pid_namespace(getpid());
    char *save = NULL;

    if (st_read_file_at(cg->dirfd, "cgroup.procs", false, PROC_FILE_MAX, &text, err) < 0)
        return -err->errnum;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        pid_t pid = (pid_t)strtol(line, NULL, 10);
        ino_t ns;

        if (pid == init)
            continue;
        ns = pid_namespace(pid);
        if (ns != 0 && !(own_ns && ns == container_ns))
            return st_fail(err, EBUSY,
                           "control group %s is shared with process %d, which is not the container's",
                           cg->path, (int)pid);
    }
    return 0;
}

static int open_group(const struct st_mount *h, const char *path, struct st_cgroup *cg, struct st_error *err)
{
    char full[2 * PATH_MAX + 2];
    size_t root_len = strcmp(h->root, "/") == 0 ? 0 : strlen(h->root);

    if (strncmp(path, h->root, root_len) != 0)
        return st_fail(err, ENOENT, "control group %s is outside of what is mounted at %s", path, h->point);
    snprintf(full, sizeof(full), "%s%s", h->point, path + root_len);
    snprintf(cg->path, sizeof(cg->path), "%s", path);
    cg->dirfd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cg->dirfd < 0)
        return st_fail_errno(err, "open control group %s", full);
    cg->control_fd =
        openat(cg->dirfd, cg->kind == ST_CGROUP_V1 ? "freezer.state" : "cgroup.freeze", O_RDWR | O_CLOEXEC);
    if (cg->control_fd < 0)
        return st_fail_errno(err, "control group %s can not be frozen", full);
    if (cg->kind == ST_CGROUP_V2) {
        cg->events_fd = openat(cg->dirfd, "cgroup.events", O_RDONLY | O_CLOEXEC);
        if (cg->events_fd < 0)
            return st_fail_errno(err, "open cgroup.events of %s", full);
        cg->kill_fd = openat(cg->dirfd, "cgroup.kill", O_WRONLY | O_CLOEXEC);
    }
    return 0;
}

static int open_kind(const struct st_mounts *mounts, pid_t init, enum st_cgroup_kind kind,
                     struct st_cgroup *cg, struct st_error *err)
{
    const struct st_mount *h = st_cgroup_hierarchy(mounts, kind);
    char path[PATH_MAX];

    *cg = (struct st_cgroup)ST_CGROUP_NONE;
    cg->kind = kind;
    if (!h)
        return st_fail(err, ENOENT, "no %s control group hierarchy is mounted",
                       kind == ST_CGROUP_V2 ? "cgroup2" : "cgroup v1 freezer");
    if (st_cgroup_path_of(init, kind, path, sizeof(path), err) < 0 || refuse_foreign(kind, path, err) < 0 ||
        open_group(h, path, cg, err) < 0 || refuse_company(cg, init, err) < 0) {
        st_cgroup_close(cg);
        return -err->errnum;
    }
    return 0;
}

int st_cgroup_open(const struct st_mounts *mounts, pid_t init, enum st_cgroup_choice choice,
                   struct st_cgroup *cg, struct st_error *err)
{
    struct st_error second;

    switch (choice) {
    case ST_CGROUP_ONLY_V1: return open_kind(mounts, init, ST_CGROUP_V1, cg, err);
    case ST_CGROUP_ONLY_V2: return open_kind(mounts, init, ST_CGROUP_V2, cg, err);
    case ST_CGROUP_AUTO: break;
    }
    /* One hierarchy only: both together never confirm. Engines pause by v1 where they have it. */
    if (open_kind(mounts, init, ST_CGROUP_V1, cg, err) == 0)
        return 0;
    if (open_kind(mounts, init, ST_CGROUP_V2, cg, &second) == 0)
        return 0;
    if (second.errnum == EBUSY)
        *err = second;
    return -err->errnum;
}

void st_cgroup_close(struct st_cgroup *cg)
{
    st_close(&cg->dirfd);
    st_close(&cg->control_fd);
    st_close(&cg->events_fd);
    st_close(&cg->kill_fd);
}

bool st_cgroup_empty(const struct st_cgroup *cg)
{
    char text[512];
    ssize_t n;

    if (cg->kind == ST_CGROUP_V2) {
        n = pread(cg->events_fd, text, sizeof(text) - 1, 0);
        if (n < 0)
            return errno == ENODEV;
        text[n] = '\0';
        return strstr(text, "populated 0") != NULL;
    }
    n = st_read_small_at(cg->dirfd, "cgroup.procs", text, sizeof(text));
    return n == 0 || n == -ENOENT || n == -ENODEV;
}
