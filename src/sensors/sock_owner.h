/* sock_owner: which process of the container a flow is of. The socket is asked of the kernel (sock_find.h),
 * then looked for among the open files of the container's processes: those in its control group and below.
 *
 * Best effort: a socket may be shared, passed on or closed before we look, and who hides it among thousands
 * of files, or in a thread with a table of its own, is not found. What is not known says so. */
#pragma once

#include "sensors/sock_find.h"

#include <sys/types.h>

#define ST_OWNER_LINKS 8192 /* open files looked at for one question */

struct st_sock_owner {
    pid_t pid;       /* one that holds the socket now; 0: not known */
    int64_t uid;     /* of who made the socket, or -1: not known */
    bool listening;  /* the socket waits for connections: it has not made this one, if it is no answer */
    bool incomplete; /* not known, or one of several that fit */
    const char *why; /* of incomplete, in words; else NULL */
    unsigned looked; /* open files looked at */
};

struct st_sock_owners;

/* Takes over the tables. Nobody is found before the group is told: the directory of the container's control
 * group, borrowed, of which cgroup.procs is read. */
struct st_sock_owners *st_sock_owners_new(struct st_sock_tables *tables);
void st_sock_owners_tell_group(struct st_sock_owners *o, int group);
void st_sock_owners_free(struct st_sock_owners *o);

/* Does a process outside of the container hold the socket of this flow, and none inside? Looked for among all
 * processes of the machine: for what is rare. What can't be told is false. */
bool st_sock_held_outside(struct st_sock_owners *o, const struct st_flow_tuple *flow, unsigned ifindex);

/* src is the container's side; ifindex as of st_sock_find(). Never waits. */
void st_sock_owner_of(struct st_sock_owners *o, const struct st_flow_tuple *flow, unsigned ifindex,
                      struct st_sock_owner *out);
