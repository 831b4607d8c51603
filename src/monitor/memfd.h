/* memfd: keeps files that are in memory only from being executed.
 *
 * Nobody is asked about them: they lie on a mount of the kernel's own, which has no permission events. But
 * the kernel can be told, for one pid namespace, to make none that can be executed (vm.memfd_noexec, from 6.3
 * on). What the runtime made before, outside of the container, it may execute. */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* In the pid namespace of that process. -EBUSY: it is our own; -ENOENT: this kernel can't. */
int st_memfd_forbid(pid_t pid, struct st_error *err);
