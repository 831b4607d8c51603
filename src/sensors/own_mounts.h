/* own_mounts: whether an object is on a mount of the container: one that was not reached by a path from its
 * root (an fd, a link of /proc) may be of anybody's, and then its path is of another tree. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Mounts of which something was found, as that they are its own: a table is not read for each object. */
#define ST_OWN_MOUNTS 16
struct st_own_mounts {
    uint64_t ids[ST_OWN_MOUNTS];
    unsigned next;
};

/* Which mount an object is on; 0: can't be told. */
uint64_t st_mount_of(int fd);

bool st_mount_remembered(const struct st_own_mounts *list, uint64_t id);
void st_mount_remember(struct st_own_mounts *list, uint64_t id);

/* Is the object on a mount that this task can see? own may be NULL: then nothing is remembered. */
bool st_own_mount(struct st_own_mounts *own, pid_t tid, int fd);
