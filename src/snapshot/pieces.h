/* pieces: what comes along with a request (monitor/snapshot.h): a row of texts, each behind its head. The
 * worker wrote it; it is read as if it had not. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct st_piece {
    uint32_t kind;
    const char *name, *text; /* not terminated */
    size_t name_len, text_len;
};

/* The one at *at, which moves on. false: there is none, or it is cut. */
bool st_piece_next(const struct st_buf *all, size_t *at, struct st_piece *out);
