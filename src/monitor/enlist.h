/* enlist: what a container's monitor is asked to do, by what its bundle says; by the hook, and by the shim,
 * which has the monitor started before there is a container. */
#pragma once

#include "config/config.h"
#include "monitor/launch.h"
#include "oci/state.h"

#include <stdbool.h>

struct st_enlist {        /* what the shim has put into the bundle */
    const char *listener; /* socket where the runtime sends the fd of seccomp notifications; NULL: none */
    const char *floor;    /* note of oci/floor_edit.h; NULL: none */
};

/* bound: the monitor gets the listener. Nothing is written where the container is not to be watched. */
int st_enlist_order(const struct st_enlist *e, const struct st_config *config,
                    const struct st_oci_state *state, bool bound, struct st_buf *order, struct st_error *err);

/* A monitor that waits: its socket, the runtime's pidfd, the listener (-1: none) as st_launch_standby has
 * them. Where it fails, nobody finds the sockets. */
int st_enlist_standby(const struct st_enlist *e, const struct st_config *config,
                      const struct st_oci_state *state, int socket_fd, int runtime_fd, int listener_fd,
                      struct st_error *err);
