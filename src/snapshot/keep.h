/* keep: one task from the request to the published folder: what is written in which order, and what is said
 * to the worker when. It parses nothing that a container wrote: that is done by collect's child. */
#pragma once

#include "base/buf.h"
#include "monitor/snapshot.h"

#include <stdint.h>
#include <sys/types.h>

struct st_keep {
    const char *id, *rootfs, *trace, *dir;
    pid_t pid;
    uint64_t max_bytes;
    int socket, group;       /* group -1: none */
    const char *const *hook; /* on_review; NULL: none */
    struct st_snapshot_request request;
    struct st_buf pieces;
    int64_t began_ns;
};

/* Exit code. */
int st_keep_run(struct st_keep *k);
