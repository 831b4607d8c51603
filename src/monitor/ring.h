/* ring: the last records of this run, for a listener who comes late. Bounded; older ones are in the trace.
 *
 * What it holds is without a gap: first_seq up to last_seq. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_RING_BYTES (((size_t)256 << 10) - 1)

struct st_ring {
    struct st_buf bytes;
    uint64_t first_seq, last_seq; /* 0: empty */
};

/* What a listener may choose by. */
struct st_ring_entry {
    uint64_t seq;
    uint32_t len;
    uint8_t type, result, severity; /* enum st_event_type, enum st_result, enum st_severity */
};

/* line with its newline. */
void st_ring_put(struct st_ring *r, const struct st_ring_entry *entry, const char *line);

/* One after the other; *at begins as 0. */
bool st_ring_next(const struct st_ring *r, size_t *at, struct st_ring_entry *entry, const char **line);
void st_ring_free(struct st_ring *r);
