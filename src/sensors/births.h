/* births: the kernel tells which processes another one makes, until this is closed. Who is told need not
 * look, again and again, at the threads of the one that makes them: looking leaves entries in /proc, and
 * whoever waits for its end then waits until they are gone.
 *
 * Those count whose parent it is, also where a child of it made them so (CLONE_PARENT). By a BPF program at
 * the tracepoint of forks; where that can't be had, nothing is told. */
#pragma once

#include "sensors/bpf_ring.h"

#include <sys/types.h>

struct st_births {
    struct st_bpf_ring ring; /* its fd is readable when there is news */
    int link;
};

#define ST_BIRTHS_NONE                                                                                       \
    {                                                                                                        \
        .ring = ST_BPF_RING_NONE, .link = -1                                                                 \
    }

int st_births_open(struct st_births *b, pid_t parent, struct st_error *err);
void st_births_close(struct st_births *b);

typedef void (*st_births_taker)(void *ctx, pid_t child);
void st_births_read(struct st_births *b, st_births_taker take, void *ctx);
