/* keeper: between who names the listener in config.json (the precreate hook, or the shim before crun) and the
 * create hook, whose monitor serves it, there is nobody of ours; but a runtime may connect to it before (crun
 * does). A process that only keeps the bound socket until it is fetched, or there is nobody to fetch it. */
#pragma once

#include "base/error.h"
#include "config/config.h"

#include <sys/types.h>

/* Bind the listener and leave a keeper of it behind: `sandtrace-hook keep`. until: a process with whose end
 * it ends too. */
int st_keeper_start(const struct st_config *config, const char *listener, pid_t until, struct st_error *err);

/* The keeper itself: returns when it is fetched, or will not be. */
void st_keeper_keep(const char *listener);

/* Fetch it: the fd, or -1 where nobody keeps it. */
int st_keeper_ask(const char *listener);
