/* demo_story: one scenario from its beginning to its end. */
#pragma once

#include "cli/demo.h"
#include "config/config.h"

/* An exit code: ST_EXIT_OK where all was shown that is claimed. keep: a directory for the trace and the key
 * that verifies it; NULL: nothing is kept. */
int st_demo_play(struct st_cli *cli, const struct st_verb *self, const struct st_config *machine,
                 const struct st_demo_scenario *scenario, const char *keep);
