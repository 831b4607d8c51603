/* kill: end every process of a container's group, frozen or not. */
#pragma once

#include "respond/cgroup.h"

#include <stdint.h>

/* SIGKILL for all, then thaw, so that v1's frozen tasks can die, then wait until the group is empty.
 * init_pidfd (or -1) is signalled first: with it the container's pid namespace goes. 0 or -errno. */
int st_kill_container(const struct st_cgroup *cg, int init_pidfd, int64_t timeout_ns);
