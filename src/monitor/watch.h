/* watch: what warden and worker share: made by the warden before it forks, owned by main. */
#pragma once

#include "monitor/loop.h"
#include "monitor/order.h"
#include "monitor/statefile.h"
#include "respond/cgroup.h"
#include "sensors/lifecycle.h"
#include "sensors/netfilter/ruleset.h"
#include "sensors/process.h"

#include <stdbool.h>

struct st_doom;

struct st_watch {
    struct st_order order;
    struct st_lifecycle life;
    struct st_cgroup cgroup;
    struct st_cgroup unified; /* of version 2 where the other is not: what is told by BPF programs is of it */
    bool can_freeze;
    char no_freeze[256]; /* why not */
    struct st_statedir state;
    int fan; /* fanotify group, held by both, so that the death of one allows nothing; -1: not watched */
    struct st_pulse *pulse; /* shared memory, as is */
    struct st_doom *doom; /* why it is to be killed, as soon as what is kept of it is: for the next worker */
    int worker_epfd;      /* of the present worker; readable while work waits for it */
    int network;          /* socket that owns the rules of the container's network; -1: there are none */
    bool hosts_network;   /* the container has none of its own */
    struct st_ruleset_group group; /* by which its packets are told there; level 0: it has none: */
    char no_group[256];
    int outpost; /* socket to the process that holds the fence (outpost.h); -1: there is none */
    int errands; /* worker's end of the socket to the warden's performers; -1: none */
    int runtime; /* pidfd of the runtime whose hook is awaited, until the container is met; -1: none is */
    struct st_tree *tree; /* of its processes: the worker's; NULL: there is none */
    pid_t warden;
    struct st_mounts mounts; /* our own, as of our start, until the container is met */
    int64_t started_ns;      /* monotonic */
};

/* All that needs no container yet: the order, our directory, the fanotify group. */
int st_watch_open(struct st_watch *w, const char *order, size_t len, struct st_error *err);

/* The container, by its first process: lifecycle and freezer. pid 0: the order names it. */
int st_watch_meet(struct st_watch *w, pid_t pid, struct st_error *err);
static inline bool st_watch_has_met(const struct st_watch *w)
{
    return w->life.pidfd >= 0;
}

/* The directory of the container's group of version 2; -1: it has none of its own. */
static inline int st_watch_unified(const struct st_watch *w)
{
    return w->can_freeze && w->cgroup.kind == ST_CGROUP_V2 ? w->cgroup.dirfd : w->unified.dirfd;
}

/* Does the container share the host's network, where it is told by its control group? */
static inline bool st_watch_by_group(const struct st_watch *w)
{
    return w->hosts_network && w->order.network.host_by_group;
}

/* The rules of its network, which somebody else has installed. */
void st_watch_rules(const struct st_watch *w, struct st_ruleset *out);

/* Flows that go on without asking anybody must not outlive who watches them: nothing leaves any more. */
void st_watch_cut_network(const struct st_watch *w);

/* How the container's processes are known. */
void st_watch_members(const struct st_watch *w, struct st_membership *out);
/* What others find us by goes: the directory, and the listener's socket, also that of a worker that was lost.
 */
void st_watch_remove(struct st_watch *w);
void st_watch_close(struct st_watch *w);
