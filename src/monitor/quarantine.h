/* quarantine: a container that ends by a violation is kept: before it is killed sandtrace-snapshot
 * (snapshot.h) looks at it while it stands still; a task for a person is opened, and the trace says so.
 *
 * Worker's. Nothing here waits: the loop goes on, and answers the program's own opens among others. Whatever
 * goes wrong is on the trace, and the container is killed at the latest when ST_SNAPSHOT_TAKE_MS are over. A
 * worker that takes over finds in shared memory what its predecessor was about to do, and begins anew. */
#pragma once

#include "monitor/pauses.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct st_worker;

struct st_doom {
    _Atomic uint32_t set;
    struct st_violation why;
};

enum st_quarantine_phase {
    ST_QUARANTINE_NONE,
    ST_QUARANTINE_LATER,   /* it can't be frozen: when it has ended */
    ST_QUARANTINE_TAKING,  /* it stands still, or has ended */
    ST_QUARANTINE_KEEPING, /* not needed any more; its trace is not sealed yet */
    ST_QUARANTINE_DONE
};

struct st_quarantine {
    enum st_quarantine_phase phase;
    int socket; /* to the program; stays open to the end, for which the program waits */
    bool ended; /* before it was looked at */
    int64_t began_ns, deadline_ns;
    int64_t delay_ms; /* of the kill, for its sake */
    struct st_violation why;
};

/* Would what ends now, while it is paused for this, be kept? why may be NULL. */
bool st_quarantine_wants(const struct st_worker *w, const struct st_violation *why);

/* It is to be killed for this. True: not yet; it will be. */
bool st_quarantine_before_kill(struct st_worker *w, const struct st_violation *why);

/* Its first process has ended. Before pauses are forgotten. */
void st_quarantine_at_end(struct st_worker *w);

/* Of a worker that takes over: what its predecessor had begun. True: it has begun anew. */
bool st_quarantine_resume(struct st_worker *w);

/* Is there something on its way, for which the trace is not sealed yet? */
bool st_quarantine_busy(const struct st_quarantine *q);

int64_t st_quarantine_deadline(const struct st_quarantine *q); /* monotonic, or -1 */
void st_quarantine_tick(struct st_worker *w);
