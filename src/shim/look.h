/* look: answers `state` in runc's place, for a container that we hold still in a way in which runc can't see
 * it (cgroup v2, an operation that waits for an answer): from runc's own files, with the status `paused`. */
#pragma once

#include "base/error.h"
#include "oci/argv.h"

/* 1: answered. 0: can't be (another runtime's files, another command): let the runtime try. */
int st_shim_look(const struct st_oci_args *args, struct st_error *err);
