/* leftover: where nothing asks before an open (no shim), the kernel has made a file by the time that it asks
 * whether the open may be. If it may not, the empty file is removed: it would be a mark that the agent left.
 */
#pragma once

#include "monitor/watch.h"
#include "sensors/access.h"

#include <stdbool.h>
#include <stdint.h>

/* Has the open that waits with this fd just made the file? Sure for O_EXCL; else it is one that is new,
 * empty, and was not touched since. */
bool st_leftover_is_new(int fd, const struct st_wanted *wanted);

/* Have it removed, on behalf of the task that waits, which could make it and so may remove it. Done when this
 * returns. path: as the container sees it, NUL-terminated. 0 or -errno: it is still there. */
int st_leftover_remove(const struct st_watch *w, pid_t tid, int fd, const char *path);
