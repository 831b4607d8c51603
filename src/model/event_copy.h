/* event_copy: an event that outlives the pipeline: one block of memory with all that the original borrowed.
 */
#pragma once

#include "model/event.h"

struct st_event_copy {
    struct st_event ev;
    struct st_verdict verdict;
};

/* Freed with free(). v may be NULL. */
struct st_event_copy *st_event_copy(const struct st_event *ev, const struct st_verdict *v);
