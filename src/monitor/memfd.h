/* memfd: keeps files that are in memory only from being executed.
 *
 * Nobody is asked when one is executed: they lie on a mount of the kernel's own, which has no permission
 * events. But the kernel can be told, for one pid namespace, to make none that can be (vm.memfd_noexec, from
 * 6.3 on). What the runtime made before, outside of the container, it may execute. That somebody tries is
 * told by the syscalls that make one, and that run one by its fd (boundary.h). */
#pragma once

#include "base/error.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/types.h>

/* What a file in memory is that does not say it. */
enum st_memfd {
    ST_MEMFD_EITHER,  /* whoever makes it may run it, unless it is sealed against that */
    ST_MEMFD_PROGRAM, /* the same, and it can't be sealed: this kernel knows nothing else */
    ST_MEMFD_DATA     /* not to be run */
};

/* Before anybody is told anything. */
enum st_memfd st_memfd_of_kernel(void);

/* Has it be data in the pid namespace of that process. err: why it is not; left alone where it is. */
enum st_memfd st_memfd_forbid(pid_t pid, struct st_error *err);

#define ST_MEMFD_NAME 320 /* bytes of /memfd:NAME */

/* Is what this task has open there in memory only? Then its name, as the kernel tells it. */
bool st_memfd_is_open(pid_t tid, int fd, char name[ST_MEMFD_NAME]);

/* What memfd_create(2) of this task would give it, had the kernel not been told to refuse it: for one that is
 * permitted all the same. An fd, or -EOPNOTSUPP: it asks for what only the kernel can tell it. */
int st_memfd_make(pid_t tid, const struct seccomp_data *call);
