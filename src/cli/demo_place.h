/* demo_place: a place of the demonstration's own in /tmp: configuration, key, policy, state, traces, the
 * agent's folder. It goes when nobody is left who works in it, also where all of us were killed. */
#pragma once

#include "base/error.h"
#include "cli/demo.h"
#include "config/config.h"

struct st_demo_place {
    char *dir, *file; /* file: the configuration */
    char *work, *home;
    struct st_config *config;
    int line; /* whoever has it works here; handed down to the container's makers */
    pid_t keeper;
};

#define ST_DEMO_PLACE_NONE                                                                                   \
    {                                                                                                        \
        .line = -1                                                                                           \
    }

/* machine: the configuration of this machine, whose programs are used. */
int st_demo_place_make(struct st_demo_place *p, const struct st_config *machine,
                       const struct st_demo_scenario *scenario, struct st_error *err);

/* Returns when it is gone. */
void st_demo_place_end(struct st_demo_place *p);
