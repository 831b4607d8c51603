/* outbox: what one reader of ours is still to be sent; bounded, and nobody ever waits for it.
 *
 * Events that find it full are left out and counted; where the gap was, the reader finds
 * {"id":…,"last_seq":…,"missed":N} once it has caught up. Answers to requests are never left out: a peer that
 * asks and does not read is given up instead. Order is kept. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_OUTBOX_EVENTS ((size_t)1 << 20)
#define ST_OUTBOX_ANSWERS ((size_t)4 << 20)

struct st_outbox {
    struct st_buf queue;
    size_t sent;         /* of it */
    uint64_t missed;     /* events left out since the last one that went in */
    uint64_t missed_seq; /* the last of them */
};

/* How many bytes wait. */
static inline size_t st_outbox_waits(const struct st_outbox *o)
{
    return o->queue.len - o->sent;
}

/* A line with its newline. */
void st_outbox_event(struct st_outbox *o, uint64_t seq, const char *line, size_t len);

/* Whole lines. false: the peer does not read, give it up. */
bool st_outbox_answer(struct st_outbox *o, const char *lines, size_t len);

/* Send what the socket takes. 1: the rest waits for room; 0: all is out; negative: the peer is gone. id is
 * the container's, for the line that tells of a gap. */
int st_outbox_flush(struct st_outbox *o, int fd, const char *id);

void st_outbox_free(struct st_outbox *o);

/* The line that tells of a gap, with its newline. */
void st_outbox_gap(struct st_buf *out, const char *id, uint64_t missed, uint64_t last_seq);
