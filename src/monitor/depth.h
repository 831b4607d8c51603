/* depth: the plan of what is asked about (policy/depth.h), at work: which marks are put, and wider ones as
 * soon as the list of objects would not be complete any more.
 *
 * Each step goes one way: what is asked about once is asked about until the end. */
#pragma once

#include "base/error.h"
#include "base/mountinfo.h"
#include "model/str.h"
#include "monitor/made.h"
#include "monitor/pipeline.h"
#include "policy/depth.h"
#include "sensors/footings.h"
#include "sensors/marks.h"

struct st_depth_watch {
    struct st_pipeline *pipeline; /* NULL: every open is asked about */
    struct st_policy *policy;
    enum st_depth asked;
    struct st_depth_plan plan; /* by it */
    struct st_mounts mounts;   /* as they were when the plan was made; gone when the marks are put */
    struct st_footings footings;
    size_t n_objects; /* that have a mark of their own */
    struct st_made made;
    int told; /* group that tells of all opens that were not asked about; -1: none */
};

/* The plan, into the marks that are going to be put; objects get theirs. Before any other mark is put, since
 * directories are read. mounts is taken over; marks refer to it. All of *d is zero. */
int st_depth_watch_open(struct st_depth_watch *d, struct st_pipeline *p, struct st_mounts *mounts,
                        const struct st_mounts *host, struct st_mark_plan *marks, struct st_error *err);
/* After all marks are put: those of what is only told. */
int st_depth_watch_tell(struct st_depth_watch *d, const struct st_mark_plan *marks, struct st_error *err);
/* Was it opened through a mount of the container's on which nobody is asked? */
bool st_depth_watch_is_told(struct st_depth_watch *d, int fd);
void st_depth_watch_close(struct st_depth_watch *d);

/* What came of it, for people; nothing where every open is asked about and that is what was wanted. */
void st_depth_watch_describe(const struct st_depth_watch *d, struct st_buf *out);

/* Somebody is about to make something at this path, on the mount of this fd: if that belongs on the
 * list, each open of the mount is asked about from now on. Negative: that can't be had; it must not be made.
 */
int st_depth_watch_makes(struct st_depth_watch *d, struct st_str path, int fd);

/* A file is going to be made: who closes it is going to be told. Its directory may be taken out of r. */
void st_depth_watch_expect(struct st_depth_watch *d, struct st_resolved *r);
/* Those that were expected are there by now. */
static inline void st_depth_watch_find(struct st_depth_watch *d)
{
    if (d->made.n)
        st_made_find(&d->made, &d->pipeline->summary);
}

/* The rules are going to change: each open is asked about from now on, everywhere. */
int st_depth_watch_widen(struct st_depth_watch *d, const char *why, struct st_error *err);
