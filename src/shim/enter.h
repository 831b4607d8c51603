/* enter: a process that is put into a container whose floor is Landlock gets the floor too: the helper goes
 * before its command, whether that is in a file of the engine's (--process) or in the command line. */
#pragma once

#include "base/error.h"
#include "config/config.h"
#include "oci/argv.h"
#include "shim/process.h"

/* 0; argv may be a new one. Negative: it must not be started. config: NULL where it can't be read. */
int st_shim_enter(const struct st_config *config, const struct st_oci_args *args,
                  const struct st_shim_process *process, char ***argv, struct st_error *err);
