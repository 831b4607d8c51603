/* pids_edit: modifiers that give a container a limit of processes that the kernel keeps, and that take this
 * back. The note that set makes is handed to the hook, and to reset when the bundle is run again. */
#pragma once

#include "base/buf.h"
#include "oci/config_edit.h"

#include <stdint.h>

/* linux.resources.pids.limit, unless the container has one. Appends the note. */
int st_oci_set_pids(struct st_oci_config *config, int64_t limit, struct st_buf *note, struct st_error *err);

/* note: of set; NULL: nothing was done. Seen by later modifiers only after st_oci_config_settle. */
void st_oci_reset_pids(struct st_oci_config *config, const char *note);
