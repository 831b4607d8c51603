/* seccomp_sockets: the conditions under which profiles that are widely used permit socket(2). Private to this
 * folder. */
#pragma once

#include "oci/seccomp_subjects.h"

/* Does the profile permit all sockets but one kind, which is told, so that rules of ours can take the place
 * of its own? */
bool st_seccomp_knows_sockets(const struct st_seccomp_subjects *all, struct st_seccomp_kind *but);
