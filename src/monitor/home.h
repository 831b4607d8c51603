/* home: where the monitor lives: its own session, control group, priorities and limits, so that neither
 * the engine's end nor the container's hunger reaches it. */
#pragma once

#include "base/idle.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The group `sandtrace` of cgroup v2, in which all monitors live; made where it is missing. An fd of the
 * directory to be born in (base/spawn.h), or -1: there is no cgroup v2 here. */
int st_home_open_group(void);

/* Session, signals, stdio to /dev/null, out-of-memory score, priority, no core dumps. */
void st_home_detach(void);

/* On cgroup v1 nobody is born elsewhere: is there a hierarchy in which we are not in the root, but in the
 * engine's group? */
bool st_home_is_lodger(void);

/* Leave those. Stops every fork on the machine for some milliseconds, so that it is done while nobody waits.
 */
void st_home_move_out(const pid_t *pids, size_t n);

/* Give back what only the start needed: pages of the program, of the stack below, of freed memory. What is
 * needed again comes back by itself. */
void st_home_shed(void);
