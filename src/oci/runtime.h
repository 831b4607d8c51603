/* runtime: where the real OCI runtime is. Never this program itself: the shim may be installed under the name
 * of runc, and would else exec itself for ever. */
#pragma once

#include "base/error.h"

/* configured: a path, a name for PATH, or NULL for runc, then crun. path: the value of PATH, or NULL for the
 * usual directories; only its absolute entries count. *out is the caller's. */
int st_oci_find_runtime(const char *configured, const char *path, char **out, struct st_error *err);
