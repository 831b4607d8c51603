/* run_summary: at the end a few lines on standard error: what was touched, what was refused, where the trace
 * is and whether it verifies. */
#pragma once

#include "cli/cli.h"
#include "config/config.h"

struct st_run_end {
    const char *id;
    int code;         /* of the command */
    const char *copy; /* where else the trace is; NULL: nowhere */
    bool copied;      /* it is */
    size_t left_out;  /* files of /etc */
};

/* Returns the exit code: the command's, or another where the trace does not stand. */
int st_run_summary(struct st_cli *cli, const struct st_verb *self, const struct st_config *config,
                   const struct st_run_end *end);
