/* run_copy: a copy of the trace where the caller wants one, whole and in one file. */
#pragma once

#include "base/error.h"
#include "cli/run_who.h"

struct st_run_copy {
    int dir; /* opened at the start: what the command does to paths changes nothing */
    char *name;
};

#define ST_RUN_COPY_NONE                                                                                     \
    {                                                                                                        \
        .dir = -1                                                                                            \
    }

/* Nothing may be there yet. */
int st_run_copy_begin(struct st_run_copy *c, const char *file, struct st_error *err);
int st_run_copy_make(const struct st_run_copy *c, const char *trace, const struct st_run_who *who,
                     struct st_error *err);
void st_run_copy_end(struct st_run_copy *c);
