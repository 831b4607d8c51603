/* snapshots: the warden starts sandtrace-snapshot, hands it the worker's socket, and reads nothing of it. */
#pragma once

#include "monitor/watch.h"

#include <sys/types.h>

#define ST_SNAPSHOTS 2     /* at the same time: one of a worker that is gone may not be dead yet */
#define ST_SNAPSHOTS_ALL 4 /* in the life of a container */

struct st_snapshots {
    pid_t list[ST_SNAPSHOTS]; /* 0: free */
    unsigned started;
};

/* The socket stays the caller's. Where none can be started the worker finds its end closed. */
void st_snapshots_start(struct st_snapshots *s, const struct st_watch *w, int socket);
void st_snapshots_reap(struct st_snapshots *s);
/* The worker that asked is gone. */
void st_snapshots_end(const struct st_snapshots *s);
