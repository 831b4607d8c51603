/* lifecycle: when the container's first process ends, and how.
 *
 * Holds the pidfd, so that a reused pid is never taken for the container. We are not its parent: the exit
 * status comes from the kernel's own record behind the pidfd (6.15 and later), else from the zombie's
 * /proc entry if we are quicker than its reaper, else it is not known. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct st_lifecycle {
    pid_t pid;
    int pidfd;    /* readable when the process has ended */
    int proc_dir; /* /proc/PID, taken while it lived */
};

#define ST_LIFECYCLE_NONE                                                                                    \
    {                                                                                                        \
        .pidfd = -1, .proc_dir = -1                                                                          \
    }

int st_lifecycle_open(pid_t pid, struct st_lifecycle *out, struct st_error *err);
void st_lifecycle_close(struct st_lifecycle *l);

bool st_lifecycle_ended(const struct st_lifecycle *l);

/* Wait status as of waitpid(2). false: not known (yet). */
bool st_lifecycle_status(const struct st_lifecycle *l, int *status);

/* Its first thread has ended alone, and others of the process live: a runtime, which looks at the first one,
 * takes it for stopped. */
bool st_lifecycle_headless(const struct st_lifecycle *l);

/* It is being killed: who freezes the group now keeps it from ending (v1). */
bool st_lifecycle_dying(const struct st_lifecycle *l);
