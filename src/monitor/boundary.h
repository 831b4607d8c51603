/* boundary: syscalls by which a container asks something of the kernel that is no change of a file: what a
 * seccomp notification of one says becomes an event that is judged before it happens. */
#pragma once

#include "monitor/inquiry.h"

void st_boundary_take(struct st_inquiry *q);

/* The errno that the runtime gets for a call of its own, while it sets a process up: what the container's
 * profile refuses it refuses to the runtime as well. 0: let it by. */
int st_boundary_of_setup(const struct st_mutations *m, const struct seccomp_data *call);
