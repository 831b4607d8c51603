/* marks: which file systems and mounts of a container are watched, and putting the marks there.
 *
 * The plan is pure: two mount tables and the root's place in, a list out. The rule that must never break: a
 * superblock that the host uses as well is never marked as a whole. */
#pragma once

#include "base/error.h"
#include "base/mountinfo.h"
#include "sensors/fan.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ST_MARK_COVERED "covered by another mount"

struct st_mark {
    const struct st_mount *mount;
    enum st_fan_target target;
    uint64_t mask;    /* everything that is decided, unless the caller wants less */
    const char *skip; /* why it is not watched; NULL: it is */
};

struct st_mark_plan {
    struct st_mark *list;
    size_t n;
};

/* rootfs: the host's path of the container's root, as its mount table has it before pivot_root. Marks refer
 * to mounts of `container`, which must outlive the plan. */
int st_marks_plan(const struct st_mounts *container, const struct st_mounts *host, const char *rootfs,
                  struct st_mark_plan *out, struct st_error *err);
void st_marks_free(struct st_mark_plan *plan);
#define st_auto_mark_plan __attribute__((cleanup(st_marks_free))) struct st_mark_plan

/* Put them. Each is opened below /proc/PID/root without following a symlink, and is marked only if it is the
 * very mount that the table named. A mount that turns out to have no permission events is noted in the plan.
 */
int st_marks_put(int fan, pid_t pid, struct st_mark_plan *plan, struct st_error *err);

/* Is m, at this point of the container's table, the container's root, and of a file system that nobody else
 * uses? rootfs: where the host has it. */
bool st_marks_owns_superblock(const struct st_mount *m, const char *point, const struct st_mounts *host,
                              const char *rootfs);
/* Is this of the file system that the host stands on? What can't be told is. */
bool st_marks_is_hosts(int fd);

/* Why a mount of this kind is not watched; NULL: it is. */
const char *st_marks_skip(const struct st_mount *m);

/* O_PATH fd of the very mount, below the root directory of the process whose table it is in. -ESTALE: it is
 * covered by another one, so that nobody can open what is in it. */
int st_marks_open(int root, const struct st_mount *m);
