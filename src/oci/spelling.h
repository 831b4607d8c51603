/* spelling: refuses a config.json whose keys runc would read in another way than we do.
 *
 * Go's JSON decoder takes a key for a field's name without regard to case (and takes U+017F for s, U+212A for
 * k): for runc `"Hooks"` is `"hooks"`, and the later of two wins. We and crun go by the exact name. So in
 * every object that we read or edit a key that differs from a known one only in this way is an error. */
#pragma once

#include "base/error.h"
#include "base/json.h"

/* text is what root was parsed from; used for line and column. */
int st_oci_check_spelling(const struct st_json_node *root, const char *text, struct st_error *err);

/* Of a file that holds a process alone. */
int st_oci_check_process_spelling(const struct st_json_node *process, const char *text, struct st_error *err);
