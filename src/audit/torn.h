/* torn: bytes that a write cut short has left in a trace, and the record by which the next writer declares
 * them.
 *
 * The bytes stay where they are. The declaration is a `sensor` record with the payload
 * {"sensor":"trace","state":"torn_tail","torn":{"length":…,"offset":…,"sha256":"…"}}. It follows them
 * directly; where they did not end in a newline, one that is not counted stands between. Private to
 * src/audit. */
#pragma once

#include "audit/frame.h"
#include "audit/lines.h"

struct st_torn {
    uint64_t offset, length;
    char sha256[ST_SHA256_HEX + 1];
};

/* The payload of the declaration. */
void st_torn_payload(const struct st_torn *t, struct st_buf *out);

/* false: the frame is no declaration. */
bool st_torn_read(const struct st_frame *f, struct st_torn *out);

/* The hash of all bytes from an offset on, line by line. */
struct st_torn_sum {
    uint64_t offset;
    struct sha256_ctx ctx; /* of all but the last newline */
    bool newline;          /* which is then owed */
};

void st_torn_sum_begin(struct st_torn_sum *s, uint64_t offset);
void st_torn_sum_add(struct st_torn_sum *s, const struct st_line *line);

/* Does the declaration, on the line at line_offset, describe exactly what was summed up? */
bool st_torn_matches(const struct st_torn *t, const struct st_torn_sum *s, uint64_t line_offset);
