/* performers: short-lived children of the warden, each on one errand with the warden's privileges. */
#pragma once

#include "monitor/hands.h"
#include "monitor/snapshots.h"
#include "monitor/watch.h"

#include <sys/types.h>

struct st_performers {
    pid_t list[ST_HANDS]; /* 0: free */
    struct st_snapshots snapshots;
};

/* Take one errand from the socket and send somebody. The errand is not looked at here. Where nobody can go
 * the worker finds its reply socket closed. 0, -EAGAIN: none waits; other negative: the socket is of no use
 * any more. */
int st_performers_send(struct st_performers *p, struct st_watch *w, int socket_fd);
void st_performers_reap(struct st_performers *p);
