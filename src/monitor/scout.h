/* scout: a runtime makes the network namespace of its container milliseconds before it calls our hook. Here
 * it is found as soon as a process is born in it (sensors/births.h), so that its rules are in place when the
 * hook comes. What is found is a guess until the hook has named the container's process. */
#pragma once

#include "sensors/births.h"

struct st_scout {
    struct st_births births;
};

#define ST_SCOUT_NONE                                                                                        \
    {                                                                                                        \
        .births = ST_BIRTHS_NONE                                                                             \
    }

/* runtime: pidfd of one that has made nothing yet. */
int st_scout_open(struct st_scout *s, int runtime, struct st_error *err);
void st_scout_close(struct st_scout *s);

/* Readable when it is worth a look; -1: it never is. */
static inline int st_scout_fd(const struct st_scout *s)
{
    return s->births.ring.fd;
}

/* An fd of the network namespace, other than ours, that the last of the runtime's children is in; -1: there
 * is none yet. */
int st_scout_network(struct st_scout *s);
