/* confine: what the process that reads a container's bytes may still do: read files and /proc, write to what
 * is open. No network, no program, no file opened for writing, no signal. */
#pragma once

#include "base/error.h"

/* For good. */
int st_confine_collector(struct st_error *err);
