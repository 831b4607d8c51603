/* openings: what of the machine a config.json opens to its container otherwise than by mounts: devices that
 * hold the machine's disks and memory, and the kernel's settings, which the runtime closes only when asked.
 */
#pragma once

#include "oci/config_edit.h"

/* In words; NULL: nothing. */
const char *st_oci_opening(const struct st_oci_config *config);
