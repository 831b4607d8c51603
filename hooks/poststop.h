/* poststop: tells the monitor that the engine is done with the container, and waits for the sealed trace. */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* 0 also where there is no monitor (it has ended already). */
int st_poststop_wait(const char *state_dir, const char *id, int64_t timeout_ms, struct st_error *err);
