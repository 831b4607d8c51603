/* warden: the small, privileged parent. It starts the worker, watches it, and acts when it fails:
 * freeze, have it recorded by a new worker, then kill or leave paused. It never parses what a container could
 * have written, and says nothing but fixed messages.
 *
 * It sleeps for as long as the worker does: a clock runs only while work waits for the worker. */
#pragma once

#include "monitor/watch.h"

/* Why there is a new worker; the first one has none. */
struct st_loss {
    char cause[128];    /* "killed by signal 9", "stopped by signal 19", "stood still for 5600 ms" */
    bool frozen;        /* confirmed */
    int64_t freeze_us;  /* from the report to the confirmed freeze */
    uint64_t unwritten; /* uses that it had let by and that its trace may lack: at most so many */
};

/* Exit code of a worker who can't vouch for its trace any more: the next one looks what is there. */
#define ST_WORKER_TRACE_LOST 3

/* The worker's main function, run in the child. Returns its exit code. */
typedef int (*st_worker_main)(struct st_watch *w, int link, const struct st_loss *loss);

/* Who waits for our readiness. */
struct st_starter {
    int ready_fd;              /* told "ok", or why not, then closed; -1: comes to the socket first, */
    int socket_fd, runtime_fd; /* with the pid of the container (standby.h); closed then */
};

/* Until the container has ended and its trace is sealed. The starter's fds are taken over. Returns the exit
 * code of the monitor. */
int st_warden_run(struct st_watch *w, st_worker_main worker, const struct st_starter *starter);
