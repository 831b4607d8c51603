/* entrance: may the engine put a process with more capabilities than the container has into it (`docker exec
 * --privileged`)? Not where it could take away what holds the container: what is planted there may be run by
 * whoever enters. */
#pragma once

#include "monitor/worker_private.h"

/* grants: model/caps.h. true: it may. Else reason, as text of at most size bytes. */
bool st_entrance_let(const struct st_worker *w, unsigned grants, char *reason, size_t size);
