/* process: who does it: the facts about a process that an event carries, read from /proc.
 *
 * Names that a process gives itself (comm, argv) are reported, never believed: exe is the kernel's. */
#pragma once

#include "model/event.h"

#include "sensors/tree.h"

#include <stdbool.h>
#include <sys/types.h>

#define ST_ARGV_MAX 4096
#define ST_ANCESTORS 16

struct st_process_facts {
    struct st_process process;
    pid_t leader; /* thread group */
    bool in_container;
    bool parent_outside; /* started from outside of the container */
};

/* Owns the bytes that its facts point to. */
struct st_process_room {
    struct st_process_facts facts;
    char comm[32], exe[4096], cwd[4096], argv[ST_ARGV_MAX];
    struct st_ancestor ancestry[ST_ANCESTORS];
    char names[ST_ANCESTORS][32 + 512];
};

/* cgroup: path of the container's group in the hierarchy whose line in /proc/PID/cgroup has this prefix
 * ("0::" or "6:freezer:"); who is in it or below belongs to the container. */
struct st_membership {
    char controller[64]; /* "" for v2 */
    char path[4096];
    struct st_tree *tree; /* knows ancestors that have ended; NULL: nobody does */
};

/* The process that a thread is of; 0: it is gone. */
pid_t st_process_leader(pid_t tid);
/* As the kernel has it now; 0: gone. */
pid_t st_process_parent(pid_t pid);

bool st_process_is_member(pid_t pid, const struct st_membership *m);

/* false: the process is gone; what could be read is there and `incomplete` is set. */
bool st_process_read(pid_t tid, const struct st_membership *m, struct st_process_room *out);
