/* collect: the child that looks at the container, confined, and writes to files that it was given.
 *
 * It holds no socket, and can open nothing for writing. What it says of itself are numbers in shared memory.
 * Where it does not end in time it is killed, and what it wrote is thrown away. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct st_collected {
    int64_t processes, sockets, mounts, files, deleted, omitted, tar_bytes;
    bool late; /* time was up before all was looked at */
    bool done;
};

struct st_collect {
    pid_t init;                  /* 0: the container has ended */
    int group;                   /* directory of its group; -1: none */
    int layer;                   /* directory whose files are kept: an upper layer, or a root; -1: none */
    bool overlay;                /* the former: all that is in it has changed */
    const struct st_buf *pieces; /* of the request (monitor/snapshot.h): paths, for the latter */
    uint64_t max_bytes;
    int64_t deadline_ns; /* monotonic; it is killed at kill_ns */
    int64_t kill_ns;
    int state_fd, list_fd, tar_fd; /* to be written */
};

int st_collect(const struct st_collect *c, struct st_collected *out, struct st_error *err);
