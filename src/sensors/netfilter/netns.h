/* netns: for a moment in another network namespace. Sockets that are opened there stay there. */
#pragma once

#include "base/error.h"

/* Calls visit in the namespace of ns_fd, which the caller keeps, and comes back; returns what visit did. The
 * calling thread alone moves. Who can't come back must not go on: this aborts. */
int st_netns_visit(int ns_fd, int (*visit)(void *ctx, struct st_error *err), void *ctx, struct st_error *err);
