/* sock_end: TCP connections that a container has left behind. Who ends with something unsent leaves it to the
 * kernel, which goes on trying for minutes: where the rules go earlier than that, it would leave without
 * them. */
#pragma once

#include "base/error.h"
#include "sensors/net/flow_tuple.h"

/* A socket of the calling thread's network namespace. */
int st_sock_end_open(struct st_error *err);

/* Those that no process holds, and that were made in this control group (the inode of its directory; not in
 * those below it), end; spare, where not NULL, says which do not. src is the container's side. CAP_NET_ADMIN
 * is needed. How many ended, or -errno: not all could be looked at. */
int st_sock_end(int fd, uint64_t group, bool (*spare)(void *ctx, const struct st_flow_tuple *flow),
                void *ctx);
