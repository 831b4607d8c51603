/* facts: what a container was granted, out of its config.json, for the first record of its trace.
 *
 * Read with libocispec, the typed reader that crun uses. The result is one canonical JSON object of bounded
 * size: long lists and texts are cut, and `truncated` says so. Values of environment variables are never
 * copied: they are where secrets live. */
#pragma once

#include "base/buf.h"
#include "oci/config_edit.h"

/* bundle: for a rootfs that is given relative to it. Appends the object to out. Where libocispec can't make
 * sense of the file the object says `incomplete` and why; the runtime will have its own opinion. */
void st_oci_facts(const struct st_oci_config *config, const char *bundle, struct st_buf *out);
