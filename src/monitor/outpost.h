/* outpost: the process that holds the fence of a container with CAP_NET_ADMIN (sensors/netfilter/fence.h), in
 * the network of the monitor. Only where the configuration says `net_admin: outside`.
 *
 * It alone has a socket to that network: the worker, which reads what the container wrote, asks it by fixed
 * structs over a socket pair and can have nothing done there but this. Child of the warden, confined from its
 * first errand on; it finds the cables by itself, by what the kernel says of their other ends. When nobody is
 * left to ask, it shuts the fence and ends. */
#pragma once

#include "base/error.h"
#include "model/addr.h"
#include "sensors/netfilter/fence.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum st_outpost_kind {
    ST_OUTPOST_BEGIN = 1, /* with the container's namespace; first, once */
    ST_OUTPOST_KEEP,      /* put up the fence around the cables that are there; own_port: with the switch */
    ST_OUTPOST_LOOK,      /* for other ones; index: one that must be guarded then */
    ST_OUTPOST_OPEN,
    ST_OUTPOST_ACCEPT,
    ST_OUTPOST_QUERY,
    ST_OUTPOST_CLOSE_ALL,
    ST_OUTPOST_RENEW,
    ST_OUTPOST_CUT,
    ST_OUTPOST_REMOVE,
};

struct st_outpost_request {
    uint32_t kind, seq;
    bool quiet; /* no answer is waited for */
    bool dead_man;
    uint8_t protocol;
    uint16_t port, own_port;
    int32_t index;
    struct st_addr addr;
    struct st_fence_query query;
};

/* Starts it. fd: the other end of its socket, close-on-exec; its holders are whom it serves. -1: it can't be.
 */
pid_t st_outpost_start(int *fd);

/* For its parent: it has ended, and is 0 from now on. */
bool st_outpost_reap(pid_t *pid);

/* Waits until it is done. passed: goes with it, and stays the caller's; -1: nothing. */
int st_outpost_ask(int fd, struct st_outpost_request *request, int passed, struct st_error *err);

/* Does not. */
void st_outpost_tell(int fd, enum st_outpost_kind kind);
