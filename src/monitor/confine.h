/* confine: what the worker gives up before it looks at anything that a container could have written. */
#pragma once

#include "base/error.h"

/* No new privileges, capabilities down to reading /proc of others, a seccomp filter that kills on
 * anything that a worker has no business with. Files that need more are opened before. */
int st_confine_worker(struct st_error *err);
