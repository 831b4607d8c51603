/* fault: places in the order of a violation at which a test can have the monitor die. In the monitor that is
 * installed there is nothing of it; tests build one with ST_FAULTS (tests/attack/local.mk). */
#pragma once

#include "monitor/watch.h"

#ifdef ST_FAULTS
/* Dies here where the file `.fault` beside the container's directory names this point; with ` wait` behind
 * the name, waits for as long as it does. */
void st_fault(const struct st_watch *w, const char *point);
#else
static inline void st_fault(const struct st_watch *w, const char *point)
{
    (void)w;
    (void)point;
}
#endif
