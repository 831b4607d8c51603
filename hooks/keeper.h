/* keeper: between the precreate hook, which names the listener in config.json, and the create hook, whose
 * monitor serves it, there is nobody of ours; but a runtime may connect to it before (crun does). A process
 * that only keeps the bound socket until it is fetched, or the engine ends. */
#pragma once

#include "base/error.h"
#include "config/config.h"

/* Bind the listener and leave a keeper of it behind: `sandtrace-hook keep`. */
int st_keeper_start(const struct st_config *config, const char *listener, struct st_error *err);

/* The keeper itself: returns when it is fetched, or will not be. */
void st_keeper_keep(const char *listener);

/* Fetch it: the fd, or -1 where nobody keeps it. */
int st_keeper_ask(const char *listener);
