/* cgroup: finds the control group that holds one container and nothing else, and keeps it open.
 *
 * Everything that freezes or kills goes through an fd taken here, once, while the container's first
 * process is known to be alive; paths are never looked up again. Refused: the root group, a group that
 * we or our parent are in, one that holds processes which are not the container's. */
#pragma once

#include "base/error.h"
#include "base/mountinfo.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

enum st_cgroup_kind {
    ST_CGROUP_V1, /* the freezer controller of version 1 */
    ST_CGROUP_V2
};

enum st_cgroup_choice {
    ST_CGROUP_AUTO, /* the hierarchy that runtimes use: v1 where its freezer is mounted, else v2 */
    ST_CGROUP_ONLY_V1,
    ST_CGROUP_ONLY_V2
};

struct st_cgroup {
    enum st_cgroup_kind kind;
    int dirfd;
    int control_fd;      /* freezer.state or cgroup.freeze, open for writing */
    int events_fd;       /* cgroup.events (v2), else -1 */
    int kill_fd;         /* cgroup.kill where the kernel has it, else -1 */
    char path[PATH_MAX]; /* inside its hierarchy */
};

#define ST_CGROUP_NONE                                                                                       \
    {                                                                                                        \
        .dirfd = -1, .control_fd = -1, .events_fd = -1, .kill_fd = -1                                        \
    }

/* mounts: our own, in which the hierarchies are looked for. -EBUSY: the group is shared with others; -ENOENT:
 * the container has no group of its own. */
int st_cgroup_open(const struct st_mounts *mounts, pid_t init, enum st_cgroup_choice choice,
                   struct st_cgroup *cg, struct st_error *err);
void st_cgroup_close(struct st_cgroup *cg);
#define st_auto_cgroup __attribute__((cleanup(st_cgroup_close))) struct st_cgroup

/* Where its hierarchy is mounted; NULL: nowhere. */
const struct st_mount *st_cgroup_hierarchy(const struct st_mounts *mounts, enum st_cgroup_kind kind);

/* Path of a process's group (pid 0: our own) in that hierarchy. */
int st_cgroup_path_of(pid_t pid, enum st_cgroup_kind kind, char *out, size_t size, struct st_error *err);

/* Is no process left in it (below it too, on v2)? A group that was removed is empty. */
bool st_cgroup_empty(const struct st_cgroup *cg);

const char *st_cgroup_kind_name(enum st_cgroup_kind kind);
