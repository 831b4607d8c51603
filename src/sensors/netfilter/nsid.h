/* nsid: the number by which one network namespace knows another: what devices say of their other end. */
#pragma once

#include "base/error.h"
#include "sensors/netfilter/links.h"

/* A socket of the present namespace by which it is asked. */
int st_nsid_open(struct st_error *err);

/* What the socket's namespace calls the one of ns_fd; -1: nothing yet, since nothing leads there. */
int st_nsid_of(int fd, int ns_fd, int *out, struct st_error *err);

/* Pure: what is wrong with a device of a container that is to be held at the other end of each of its cables;
 * NULL: nothing, or it is one that leads out by another device only. outer: number of the namespace in which
 * the other ends are guarded. first: the container has not run yet, and can't have made it. */
const char *st_nsid_fault(const struct st_device *device, int outer, bool first);
