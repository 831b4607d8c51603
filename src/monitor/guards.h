/* guards: objects that rules of the policy refuse, known whatever name they are reached by. What is asked
 * about one under another name is judged by the worse of the two names. */
#pragma once

#include "base/error.h"
#include "monitor/pipeline.h"
#include "sensors/guarded.h"

struct st_guards {
    struct st_pipeline *pipeline;
    struct st_guarded *objects;
};

/* Before any mark is put: see sensors/guarded.h. */
int st_guards_open(struct st_guards *g, struct st_pipeline *p, const struct st_watch *w,
                   struct st_error *err);

/* Where the policy would refuse it under the guarded name, that one becomes the path, and the one that it was
 * reached by the target. Not for what happens to a name alone: to remove or move a second name changes
 * nothing of the object. */
void st_guards_name(const struct st_guards *g, struct st_event *ev);
