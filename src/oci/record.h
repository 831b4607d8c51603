/* record: what the real runtime keeps of a container that it has made: the place where our own note of its
 * floor stands for as long as the container does, whoever of us has died and whatever became of the bundle.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "oci/argv.h"

/* Is this a runtime whose records we can read? */
bool st_oci_record_is_known(const char *runtime_path);

/* The note of our hook (floor_edit.h) of a container. 1; 0: it has none, or there is no such container;
 * negative: there is a record that can't be read. */
int st_oci_record_note(const struct st_oci_args *args, struct st_buf *note, struct st_error *err);
