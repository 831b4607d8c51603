/* busdir: the folder in which readers of the event bus put their sockets, STATE_DIR/bus.d. formats.md, 1.
 *
 * Only root may write there; with a control group its members too, who can't touch each other's (sticky) and
 * whose sockets belong to the group (setgid). Used by the monitors and by those who listen. */
#pragma once

#include "base/error.h"

#include <stdint.h>

#define ST_BUS_DIR "bus.d"

/* An fd of the folder. Root makes it and sets owner and mode right; others take it as it is. gid -1: no
 * control group. Refused (-EPERM) where somebody else could put sockets there. */
int st_busdir_open(const char *state_dir, int64_t gid, struct st_error *err);
