/* desk_bus: the review desk's ear at the event bus, in a thread of its own. */
#pragma once

#include "base/error.h"
#include "desk/http_hub.h"

#include <stdint.h>

struct st_desk_bus;

/* gid: the control group, or -1. Lives as long as the process. */
int st_desk_bus_start(struct st_stream_hub *hub, const char *state_dir, int64_t gid, struct st_desk_bus **out,
                      struct st_error *err);

/* The process ends: nobody is to connect any more. NULL: it had not begun. */
void st_desk_bus_end(const struct st_desk_bus *b);
