/* run_etc: the container's /etc: a copy of what everybody on the host may read. What only some may read is
 * there by its name, empty: a command finds what it looks for, the policy has its say, and no key is in it.
 *
 * A copy, not a layer: what comes to be in the host's /etc later is not seen. */
#pragma once

#include "base/error.h"
#include "cli/run_args.h"

#include <stddef.h>

/* Of /etc, or of another directory like it. to: an existing, empty one. *left_out grows by the number of
 * files that were too large. */
int st_run_copy_etc(const char *from, const char *to, size_t *left_out, struct st_error *err);

/* What must be the container's own, in place of the host's: hosts, hostname, resolv.conf. */
int st_run_write_etc(const char *to, enum st_run_network network, struct st_error *err);

/* Of the network that a user-mode stack makes. */
#define ST_RUN_RESOLVER "10.0.2.3"
