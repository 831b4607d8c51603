/* ahead: starts the container's monitor before the runtime, so that both come up at the same time.
 *
 * It gets a socket that is named after our pid, and an fd that tells when we end. We become the runtime; its
 * hook knows its parent's pid, and so finds the monitor that waits for it. Where any of this fails nothing is
 * lost: a hook that finds nobody starts a monitor of its own.
 *
 * Who starts it is a copy of us, born first, which waits for its orders: being born as nobody's child takes
 * as long as all that we have to do to a bundle, and both are done at the same time. It runs no other
 * program: a C library takes a millisecond to begin where a hypervisor answers for the processor. */
#pragma once

#include "config/config.h"

#include <sys/types.h>

/* Sockets lie in this directory below state_dir. */
#define ST_AHEAD_DIR ".standby"

struct st_ahead {
    int orders; /* socket to who waits for them; -1: nobody does */
    pid_t between;
};

#define ST_AHEAD_NONE                                                                                        \
    {                                                                                                        \
        .orders = -1                                                                                         \
    }

/* config is read by the copy too. */
void st_ahead_begin(struct st_ahead *a, const struct st_config *config);

struct st_ahead_order {
    const char *id, *bundle; /* bundle: its real path */
    const char *listener;    /* the path of the socket for seccomp notifications, or NULL */
    const char *floor;       /* note of oci/floor_edit.h, or NULL */
};

void st_ahead_go(struct st_ahead *a, const struct st_config *config, const struct st_ahead_order *order);

/* Who was told nothing ends. No child of ours is left. */
void st_ahead_end(struct st_ahead *a);
#define st_auto_ahead __attribute__((cleanup(st_ahead_end))) struct st_ahead
