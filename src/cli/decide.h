/* decide: approve and deny: find the pause on this host, ask its monitor, say what came of it. */
#pragma once

#include "cli/cli.h"

struct st_decide {
    const char *request; /* "approve" or "deny" */
    bool always;
    const char *reason; /* may be NULL */
};

/* Returns an exit code. */
int st_decide(struct st_cli *cli, const struct st_verb *verb, const struct st_decide *d, char **pauses,
              int n);
