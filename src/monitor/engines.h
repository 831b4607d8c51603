/* engines: commands of an engine that were told to go on, for as long as the runtime runs them.
 *
 * The shim asks, and becomes the real runtime: it is the same process. While it acts nothing may be held, or
 * it would wait for a person (see answers_engine.c). */
#pragma once

#include "monitor/loop.h"

#include <stdbool.h>
#include <sys/types.h>

#define ST_ENGINES 8

struct st_engines {
    struct st_loop *loop;
    bool *busy; /* one acts at least */
    struct st_engine {
        struct st_engines *all;
        int pidfd; /* -1: free */
    } at[ST_ENGINES];
};

void st_engines_init(struct st_engines *e, struct st_loop *loop, bool *busy);

/* pid waits for our answer, so that it is still who asked. One too many, or one that has ended, is not
 * waited for. */
void st_engines_join(struct st_engines *e, pid_t pid);
