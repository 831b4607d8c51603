/* standby: the monitor that the shim started ahead (shim/ahead.h), asked to watch. */
#pragma once

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* 0: it watches. -ENOENT: there is none for the runtime that called us, start one. Else why it does not. */
int st_standby_ask(const char *dir, pid_t pid, int64_t timeout_ms, struct st_error *err);
