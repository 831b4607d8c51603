/* standby: a monitor that was started ahead of its container waits for the hook that names the process. */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* Until the hook has come to the socket and said the pid, in digits, or the runtime (a pidfd) is gone: then
 * -ESRCH. Returns the hook's connection, on which it waits for the answer. The socket's name is removed. */
int st_standby_wait(int socket_fd, int runtime_fd, pid_t *pid, struct st_error *err);

/* Nobody will wait there: remove the socket's name. */
void st_standby_leave(int socket_fd);
