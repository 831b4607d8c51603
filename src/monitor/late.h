/* late: mounts that appear after the marks were put: made by the runtime behind our hook (readonlyPaths),
 * come in from the host by propagation, made by a container that may. Each is marked as soon as it is seen,
 * and the trace says so. */
#pragma once

#include "base/error.h"
#include "monitor/loop.h"
#include "monitor/pipeline.h"
#include "sensors/marks.h"

struct st_late_mount {
    uint64_t key;    /* number, file system, root */
    uint64_t unique; /* number that is never used again; 0: this kernel has none */
    uint64_t place;  /* where it is; 0: where it will be is not known yet */
    bool came;       /* later: another may come in its place */
};

struct st_late {
    struct st_pipeline *pipeline;
    bool runs;            /* the container's first program does; before, it is the runtime that mounts */
    struct st_loop *loop; /* that tells; NULL: none does */
    int table;            /* of the container's mounts: tells that it has changed; -1: is not watched */
    struct st_late_mount *known; /* in no order: marked, or not to be */
    size_t n;
};

/* container: its table when the marks of the plan were put. */
void st_late_open(struct st_late *l, struct st_pipeline *p, const struct st_mounts *container,
                  const struct st_mark_plan *plan);
int st_late_attach(struct st_late *l, struct st_loop *loop);

/* The runtime has made its last mount, and the first program has not begun. */
void st_late_begin(struct st_late *l);

/* The table pins the container's mounts: not longer than it runs. */
void st_late_close(struct st_late *l, struct st_loop *loop);
