/* term: colours, and nothing else that a terminal acts on. Text that others chose goes through
 * st_add_printable() (base/printable.h); these are the only escape sequences that we write. */
#pragma once

#include <stdbool.h>

enum st_term_style { ST_TERM_ALARM, ST_TERM_COMMAND, ST_TERM_DIM, ST_TERM_GOOD, ST_TERM_TYPE, ST_TERM_WARN };

static inline const char *st_term_on(bool color, enum st_term_style style)
{
    static const char *const codes[] = {
        [ST_TERM_ALARM] = "\033[1;31m", [ST_TERM_COMMAND] = "\033[1m", [ST_TERM_DIM] = "\033[2m",
        [ST_TERM_GOOD] = "\033[32m",    [ST_TERM_TYPE] = "\033[36m",   [ST_TERM_WARN] = "\033[1;33m",
    };

    return color ? codes[style] : "";
}

static inline const char *st_term_off(bool color)
{
    return color ? "\033[0m" : "";
}
