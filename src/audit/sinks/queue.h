/* queue: records that wait for a sink, in bounded memory. */
#pragma once

#include "model/event.h"

#include <stddef.h>

/* What a sink may want to know of a record besides its text. */
struct st_queued {
    enum st_severity severity;
    enum st_result result;
    enum st_event_type type;
    bool notice;        /* of our own: {"missed":N} */
    bool about_sinks;   /* its loss is told to the reader only: declaring it would make the next one */
    struct st_str line; /* without a newline */
};

struct st_queue {
    char *data;
    size_t cap, start, end, limit;
};

void st_queue_init(struct st_queue *q, size_t limit);
void st_queue_free(struct st_queue *q);
bool st_queue_empty(const struct st_queue *q);

/* false: no room within the limit. */
bool st_queue_put(struct st_queue *q, const struct st_queued *item);

/* The oldest; its line lies in the queue until it is dropped. */
bool st_queue_peek(const struct st_queue *q, struct st_queued *out);
void st_queue_drop(struct st_queue *q);
