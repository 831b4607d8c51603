/* extract: what the database keeps of one record. Hostile bytes: all text that comes out is valid UTF-8
 * without NUL. */
#pragma once

#include "audit/frame.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct st_extract {
    struct st_str analysis_id, event_id, kind, severity, result, action;
    struct st_str rule, reason; /* p NULL: none */
    struct st_str path_or_addr; /* what it was about; p NULL: nothing that has a name */
    struct st_str subject,
        command;              /* what is searched for: paths, hosts; programs with arguments. p NULL: none */
    struct st_str raw_detail; /* the payload as it stands */
    int64_t ts;               /* microseconds since 1970; 0: the record states no time */
    bool blocked;
};

/* The most room that the extract of a record takes. */
size_t st_extract_most(const struct st_frame *f);

/* Strings lie behind what is in room, which grows where it has to; whoever keeps several extracts in one room
 * reserves what they need first. Nothing of it points to the line. */
void st_extract(const struct st_frame *f, struct st_buf *room, struct st_extract *out);
