/* process: who does it: the facts about a process that an event carries, read from /proc.
 *
 * Names that a process gives itself (comm, argv) are reported, never believed: exe is the kernel's. */
#pragma once

#include "model/event.h"

#include "sensors/asker.h"
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

/* Of a process that the book knows to run what was judged (st_tree_facts.judged), all of whose news were read
 * (st_process_stream_is_settled) since it asked for something for which it waits: who it is. That it is of
 * the container, and its program, are as the book has them, which it can't make lie: it is told by the kernel
 * of each fork, execution and end in the group in their order, so that the number is this process's and no
 * other's; it began in the group; and whatever it calls its file by now, this is what it was let run. (What
 * runs from where nobody asks, as a file in memory, can pass for a file with the same number that it asked
 * for before and that did not run: so this is good for what is counted, not for what is recorded by itself.)
 * Who it acts as it may have changed since: that is read. Neither arguments, working directory nor ancestors
 * are. false: the book does not know it so; st_process_read. */
bool st_process_recognise(struct st_asker *a, pid_t pid, const struct st_tree *tree,
                          struct st_process_room *out);
/* The arguments that it was started with, as it has them now. */
struct st_str st_process_argv(pid_t tid, struct st_process_room *r);
