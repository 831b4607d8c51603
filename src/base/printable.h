/* printable: text that others chose, before it reaches a terminal: a file's name must not move the cursor,
 * change a colour or turn the direction of writing. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* Does a terminal do anything with this character (a valid sequence of UTF-8) but show it? */
bool st_acts_on_terminal(const unsigned char *s, size_t len);

/* Appends n bytes: what acts on a terminal, and what is no UTF-8, byte by byte as \x1b. */
void st_add_printable(struct st_buf *out, const char *s, size_t n);
