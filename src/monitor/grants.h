/* grants: what a person approved for the rest of this run, on top of the policy. */
#pragma once

#include "model/event.h"

#include <stdbool.h>
#include <stddef.h>

struct st_grant;

struct st_grants {
    struct st_grant *list;
    size_t n;
};

/* Remember the use that the event is an example of; id names it in verdicts. */
void st_grants_add(struct st_grants *g, const struct st_event *ev, const char *id);

/* All of from becomes part of g. */
void st_grants_move(struct st_grants *g, struct st_grants *from);

/* The id of the grant that covers the event, or NULL. */
const char *st_grants_cover(const struct st_grants *g, const struct st_event *ev);
void st_grants_free(struct st_grants *g);
