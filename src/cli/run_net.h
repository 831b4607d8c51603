/* run_net: a network for the container by a user-mode stack (slirp4netns) beside it: what leaves is judged in
 * the container's namespace, then goes out as connections of an ordinary program. Nothing is changed in the
 * host's network, and the host's own loopback is out of reach. */
#pragma once

#include "base/error.h"

#include <sys/types.h>

struct st_run_net {
    pid_t pid; /* 0: none */
    int life;  /* it ends when this is closed, also by our death */
};

#define ST_RUN_NET_OFF                                                                                       \
    {                                                                                                        \
        .life = -1                                                                                           \
    }

/* Is it installed? Asked before anything is made. */
int st_run_net_find(char **program, struct st_error *err);

/* Returns when the network is there. init: the container's first process, which does not run yet. */
int st_run_net_start(struct st_run_net *net, const char *program, pid_t init, struct st_error *err);
void st_run_net_stop(struct st_run_net *net);
