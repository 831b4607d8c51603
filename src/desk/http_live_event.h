/* http_live_event: a record of the bus as the review desk tells an event, and whether a filter lets it by. */
#pragma once

#include "base/buf.h"
#include "desk/http_find.h"

struct st_live_event {
    char *json;
    size_t len;
    /* What filters look at; in a memory of the event's own. */
    char *subject, *command;
    char *analysis_id, *container, *kind, *severity, *result;
    bool blocked;
    int64_t ts;
};

/* false: no record. container: whose it is; p NULL: not known. scratch is for the reading. */
bool st_live_event_read(struct st_str container, struct st_str line, struct st_buf *scratch,
                        struct st_live_event *out);
void st_live_event_free(struct st_live_event *e);

/* Is what is looked for in this text? As the database has it (http_sets.h): each part between spaces is a
 * phrase of words, of which the last need only begin. */
bool st_live_words(const char *text, const char *query);

bool st_live_event_fits(const struct st_live_event *e, const struct st_find *f);
