/* netgroup: the control group by which the packets of a container are told in the network of the machine. */
#pragma once

#include "base/error.h"
#include "sensors/netfilter/ruleset.h"

#include <sys/types.h>

/* Of version 2, the container's alone, at the time when its first process is known to live. */
int st_netgroup_find(pid_t init, struct st_ruleset_group *out, struct st_error *err);
