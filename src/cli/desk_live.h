/* desk_live: what the review desk asks of running containers, by their control sockets. */
#pragma once

#include "desk/live.h"

struct st_desk_live {
    const char *state_dir;
    int ask_fd; /* to the supervisor */
};

struct st_live st_desk_live(struct st_desk_live *ctx);
