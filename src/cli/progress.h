/* progress: a bar on standard error, where that is a terminal and the work is long. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct st_progress {
    bool on;    /* standard error is a terminal */
    bool shown; /* there is a bar to take away */
    const char *what;
    int64_t began_ns, next_ns;
    unsigned calls;
};

void st_progress_begin(struct st_progress *p, const char *what);

/* Cheap enough to be called for each record; total 0: not known. */
bool st_progress_due(struct st_progress *p);
void st_progress_show(struct st_progress *p, uint64_t done, uint64_t total, uint64_t records);
void st_progress_end(struct st_progress *p);
