/* report: says that and why no container was started, where the engine will look for it. */
#pragma once

#include "base/error.h"
#include "oci/argv.h"

/* One line on stderr, and one in the file of the runtime's --log option, in its --log-format: containerd's
 * and docker's shims show only what is there. */
void st_shim_report(const struct st_oci_args *args, const struct st_error *err);

/* To the log alone: stdout and stderr of a command that goes on are the runtime's. */
void st_shim_warn(const struct st_oci_args *args, const struct st_error *err);
