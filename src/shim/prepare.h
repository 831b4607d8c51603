/* prepare: the bundle of a container that is about to be made, as it must be before the real runtime reads
 * it; and the monitor that will watch it, already on its way. */
#pragma once

#include "base/error.h"
#include "config/config.h"
#include "oci/argv.h"

/* load → modify → flush. Any failure means that the container must not start. runc's hooks are its children,
 * so that they find a monitor that waits for them by its pid; crun's are not. helper: the number under which
 * the runtime must be handed the helper (helper.h), 0: none. */
int st_shim_prepare(const struct st_config *config, const struct st_oci_args *args, const char *runtime,
                    int *helper, struct st_error *err);
