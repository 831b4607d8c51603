/* boundary: syscalls by which a container asks something of the kernel that is no change of a file: what a
 * seccomp notification of one says becomes an event that is judged before it happens. */
#pragma once

#include "monitor/inquiry.h"

void st_boundary_take(struct st_inquiry *q);
