/* What the files of state share. */
#pragma once

#include "base/json_write.h"
#include "snapshot/state.h"

#include <stdbool.h>
#include <stddef.h>

#define ST_STATE_PROCESSES 8192
#define ST_STATE_SOCKETS 65536
#define ST_STATE_BYTES ((size_t)32 << 20)

struct st_state_socket {
    uint64_t inode;
    pid_t pid; /* one of those who have it open */
};

struct st_state {
    struct st_state_facts *facts;
    struct st_jw w;
    pid_t *pids;
    size_t n_pids;
    struct st_state_socket *sockets; /* that processes have open */
    size_t n_sockets;
    bool truncated;
};

/* Is there no time or room for more? */
bool st_state_over(struct st_state *s);

/* The array `sockets`: those that the kernel lists in the network namespaces of the processes, as far as one
 * of the processes has them open. */
void st_state_write_sockets(struct st_state *s);
