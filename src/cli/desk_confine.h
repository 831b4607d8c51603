/* desk_confine: the process that speaks HTTP gives up what it does not need. */
#pragma once

#include "base/error.h"

/* Before there are threads: no capability is left. */
int st_desk_drop(struct st_error *err);

/* When all threads are there: no program can be started, no process touched, no socket made but local ones.
 * Irrevocable, for all of them. */
int st_desk_confine(struct st_error *err);
