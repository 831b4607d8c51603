/* sealed: waiting, from outside, for the end of a trace. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Tells the monitor that the engine is done with the container, and waits for the sealed trace. 0 also where
 * there is no monitor (it has ended already). */
int st_sealed_wait(const char *state_dir, const char *id, int64_t timeout_ms, struct st_error *err);

/* There is a monitor, and its container has ended: what is left to do is to seal the trace. */
bool st_sealed_is_near(const char *state_dir, const char *id);
