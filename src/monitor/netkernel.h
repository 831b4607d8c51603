/* netkernel: what this kernel's netfilter can do, found out once and kept beside the containers' directories:
 * each try that fails costs a start milliseconds. */
#pragma once

#include "sensors/netfilter/ruleset.h"

#include <stdbool.h>

/* state_dir: the container's own. false: not known yet, or of another kernel. */
bool st_netkernel_recall(const char *state_dir, struct st_ruleset *out);
void st_netkernel_keep(const char *state_dir, const struct st_ruleset *found);
