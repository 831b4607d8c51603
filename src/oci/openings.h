/* openings: what of the machine a config.json opens to its container otherwise than by mounts: devices that
 * hold the machine's disks and memory, and the kernel's settings, which the runtime closes only when asked.
 */
#pragma once

#include "base/buf.h"
#include "base/json_write.h"
#include "oci/config_edit.h"

#define ST_OCI_CLOSED_OPTION "--closed" /* of our hook; its value is the note below */

/* In words; NULL: nothing. */
const char *st_oci_opening(const struct st_oci_config *config);

/* The places of the mounts that the runtime is told to make read-only: an array of strings. crun does that
 * only when its hooks have been. */
void st_oci_put_read_only(const struct st_oci_config *config, struct st_jw *w);

/* The kernel's settings are closed, where they are not: who speaks CRI without saying so leaves them open.
 * Appends a note of what was done to a buffer; nothing where nothing was. */
int st_oci_close_settings(struct st_oci_config *config, struct st_buf *note, struct st_error *err);

/* note: of that; NULL: nothing was done. Seen by later modifiers only after st_oci_config_settle. */
void st_oci_reset_settings(struct st_oci_config *config, const char *note);
