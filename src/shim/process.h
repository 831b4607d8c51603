/* process: the file in which an engine describes the process that it puts into a container (exec --process).
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "oci/argv.h"

#include <stdbool.h>

struct st_shim_process {
    struct st_buf text;  /* empty: there is none, or the runtime will say what is wrong with it */
    bool once;           /* it can't be read again: the runtime must get a copy */
    struct st_error odd; /* why it can't be understood; errnum 0: it can */
    unsigned grants;     /* of its capabilities, and of the command line's: model/caps.h */
};

/* What can't be understood may grant anything. */
void st_shim_process_read(const struct st_oci_args *args, struct st_shim_process *out);
void st_shim_process_free(struct st_shim_process *p);

/* The runtime reads this text in place of the file, by an fd that is at least min. */
int st_shim_process_hand(const struct st_oci_args *args, const struct st_buf *text, int min, char **argv,
                         struct st_error *err);
