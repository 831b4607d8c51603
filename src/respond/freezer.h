/* freezer: stop and release a container's tasks, on cgroup v1 or v2.
 *
 * Freeze is asked for first, then a pending operation is answered, then the freeze is confirmed: v2
 * confirms only after the answer. Nothing here allocates or parses what a container could have written. */
#pragma once

#include "base/error.h"
#include "respond/cgroup.h"

#include <stdbool.h>
#include <stdint.h>

int st_freezer_ask(const struct st_cgroup *cg);  /* 0 or -errno */
int st_freezer_thaw(const struct st_cgroup *cg); /* 0 or -errno */
bool st_freezer_is_frozen(const struct st_cgroup *cg);

/* Wait until every task stands still. 0, or -ETIMEDOUT, or -errno. On v2, -EAGAIN at once where asking_fd
 * (-1: none) is readable: who waits for an answer there keeps the group from ever being still. */
int st_freezer_confirm(const struct st_cgroup *cg, int asking_fd, int64_t timeout_ns);
