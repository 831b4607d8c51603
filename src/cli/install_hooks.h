/* install_hooks: the hooks that are shipped, in a directory that Podman reads. */
#pragma once

#include "cli/install.h"

/* Read by every podman, unless it is told otherwise. */
#define ST_PODMAN_HOOKS "/usr/share/containers/oci/hooks.d"

/* Each file as a change, in order. dir: NULL for the usual one. */
int st_install_hooks(const char *dir, bool undo,
                     int (*each)(void *ctx, const struct st_change *c, struct st_error *err), void *ctx,
                     struct st_error *err);
