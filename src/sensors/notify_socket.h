/* notify_socket: where a runtime hands over the fd of a container's seccomp notifications. Bound before the
 * runtime starts: crun connects before it calls a hook. */
#pragma once

#include "base/error.h"

/* The fd, non-blocking, close-on-exec. Makes the directory; what is in the way goes. */
int st_notify_listen(const char *path, struct st_error *err);
