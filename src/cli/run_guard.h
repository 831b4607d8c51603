/* run_guard: a process that does nothing until `sandtrace run` is killed, and then ends the container, takes
 * away what was made, and gives the terminal back as it was. */
#pragma once

#include "cli/run_place.h"
#include "cli/run_runtime.h"
#include "cli/run_term.h"

struct st_run_guard {
    pid_t pid;
    int line; /* when it closes without a word, we are dead */
};

int st_run_guard_start(struct st_run_guard *g, struct st_run_place *place,
                       const struct st_run_runtime *runtime, const struct st_run_term *term,
                       struct st_error *err);

/* All has been taken away: nothing is left to guard. */
void st_run_guard_dismiss(struct st_run_guard *g);
