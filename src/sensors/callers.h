/* callers: which process of a container has made a TCP connection, as the kernel saw it at the call: known
 * later too, when the socket and even the process are gone.
 *
 * Programs of ours (bpf_program.h) at the container's control group note each connect: who, from which port,
 * to where. They cost a fraction of a microsecond, wake nobody, and decide nothing. Where the kernel can't do
 * that, or there was no room for a note, whoever asks has to look for the owner of the socket (sock_owner.h).
 */
#pragma once

#include "sensors/bpf_ring.h"
#include "sensors/net/flow_tuple.h"

#include <stdbool.h>
#include <sys/types.h>

#define ST_CALLERS_KEPT 1024 /* connections that are remembered, at most one a port modulo this */

struct st_caller_note { /* as the program writes it; all of it in its order */
    uint32_t local_port;
    uint32_t remote_port; /* the upper half, as on the wire */
    uint32_t remote[4];   /* as on the wire; IPv4 in the lower places of ::ffff:0:0 */
    uint32_t tid, pid;
    uint32_t uid, gid;
};

struct st_callers {
    int cookies_fd;
    int links[3]; /* connect by IPv4, by IPv6, and what a connection becomes */
    struct st_bpf_ring ring;
    struct st_caller_note *notes; /* by local port; pid 0: none */
};

#define ST_CALLERS_NONE                                                                                      \
    {                                                                                                        \
        .ring = ST_BPF_RING_NONE, .cookies_fd = -1, .links = { -1, -1, -1 }                                  \
    }

/* group: an open directory of cgroup v2. */
int st_callers_open(struct st_callers *c, int group, struct st_error *err);
void st_callers_close(struct st_callers *c);
static inline bool st_callers_on(const struct st_callers *c)
{
    return c->ring.producer != NULL;
}

/* Who made this connection, of which src is the container's side? */
bool st_callers_find(struct st_callers *c, const struct st_flow_tuple *flow, pid_t *pid, int64_t *uid);
