/* desk_watch: keeps the processes of the review desk alive: the server, and who reads the traces. */
#pragma once

#include "cli/desk_serve.h"

/* Until it is told to end (SIGTERM, SIGINT). socket: the file to take away at the end,
 * or NULL. */
int st_desk_watch(struct st_desk_order *o, bool index, const char *socket, struct st_error *err);
