/* tail: where a trace that is there already ends, found without reading the whole of it. Private to
 * src/audit.
 *
 * Everything up to a checkpoint was forced to disk, so the search goes back to the last of them, and from
 * there forward, record by record, as far as they stand and follow one another. What is behind the last that
 * does is torn: a write cut short, or, after a power failure, pages that never reached the disk. */
#pragma once

#include "audit/record.h"
#include "audit/torn.h"

struct st_tail {
    struct st_link link; /* the last record that stands; seq 0: there is none in this file */
    uint64_t size;       /* of the file */
    struct st_torn torn; /* length 0: nothing is */
    bool needs_newline;  /* the file does not end in one */
};

int st_tail_read(int fd, struct st_tail *out, struct st_error *err);
