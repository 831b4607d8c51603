/* ahead: starts the container's monitor before the runtime, so that both come up at the same time.
 *
 * `sandtrace-hook await` gets a socket that is named after our pid, and an fd that tells when we end. We
 * become the runtime; its hook knows its parent's pid, and so finds the monitor that waits for it. Where any
 * of this fails nothing is lost: a hook that finds nobody starts a monitor of its own. */
#pragma once

#include "config/config.h"

/* Sockets lie in this directory below state_dir. */
#define ST_AHEAD_DIR ".standby"

/* listener: the path of the socket for seccomp notifications, or NULL. args: of `sandtrace-hook await`,
 * NULL-terminated; env as for the hook. */
void st_shim_start_ahead(const struct st_config *config, const char *listener, const char *const *args,
                         const char *const *env);
