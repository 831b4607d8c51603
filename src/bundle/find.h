/* find: what shim and hook both must find in a config.json, and find alike. */
#pragma once

#include "base/error.h"
#include "config/config.h"
#include "oci/config_edit.h"
#include "oci/select.h"

#include <limits.h>

/* Which policy it gets. */
int st_bundle_select(const struct st_config *config, const struct st_oci_config *bundle, const char *id,
                     struct st_selection *out, struct st_error *err);

/* The container's root as the kernel's mount tables will have it. dir: the bundle's; NULL: the present one.
 */
int st_bundle_rootfs(const struct st_oci_config *bundle, const char *dir, char out[PATH_MAX],
                     struct st_error *err);
