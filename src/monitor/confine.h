/* confine: what the worker gives up before it looks at anything that a container could have written. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* What of it takes longest and can be done long before: the bounding set is emptied, the filter made. */
int st_confine_prepare(struct st_buf *filter, struct st_error *err);

/* No new privileges, capabilities down to reading /proc of others, a seccomp filter that kills on
 * anything that a worker has no business with. Files that need more are opened before. network: it keeps
 * CAP_NET_ADMIN, without which the kernel takes no verdict; it can make no socket to use it elsewhere. */
int st_confine_worker(const struct st_buf *filter, bool network, struct st_error *err);

/* The process that holds a fence: CAP_NET_ADMIN for the sockets that it has, and no call but those that it
 * needs to use them. */
int st_confine_outpost(struct st_error *err);
