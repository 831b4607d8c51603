/* state: what stood still: processes with their arguments and open files, sockets, mounts, as JSON
 * (state.json). Read from /proc; names in it are the container's. Bounded: `truncated` says where it was cut.
 * Neither environment nor memory is looked at. */
#pragma once

#include "base/buf.h"

#include <stdint.h>
#include <sys/types.h>

struct st_state_facts {
    int proc;            /* directory /proc */
    int group;           /* directory of the container's group; -1: none */
    pid_t init;          /* its first process; 0: it has ended */
    int64_t deadline_ns; /* monotonic */
    /* out */
    int64_t processes, sockets, mounts;
};

void st_state_write(struct st_state_facts *f, struct st_buf *out);
