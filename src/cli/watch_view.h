/* watch_view: events as they come, for people: one a line, pauses as blocks. Safe for a terminal. */
#pragma once

#include "audit/decode.h"
#include "audit/frame.h"
#include "cli/control_client.h"

struct st_watch_view {
    const char *state_dir;
    const char *config; /* --config, for the commands in a block; may be NULL */
    bool all, color;
    struct st_buf paused; /* the last record whose operation was paused: the next tells of the pause */
};

/* chosen: the person's filters let it by. A pause is shown in any case. */
void st_watch_view_event(struct st_watch_view *v, const char *container, const struct st_frame *f,
                         const struct st_decoded *d, bool chosen);

/* {"missed":N,…} */
void st_watch_view_gap(struct st_watch_view *v, const char *container, struct st_str line);

/* What waits already. */
void st_watch_view_pending(struct st_watch_view *v, const struct st_box *box);
void st_watch_view_free(struct st_watch_view *v);
