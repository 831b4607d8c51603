/* sandtrace kill: the end of a container, whether anything waits or not. */
#include "cli/request.h"
#include "cli/verbs.h"

static const struct st_opt options[] = {
    {"reason", 'm', "TEXT", "why; kept in the trace"},
    ST_OPT_END,
};

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    return st_request_run(cli, self, argc, argv, "kill", "killed");
}

const struct st_verb st_verb_kill = {
    .name = "kill",
    .args = "ID…",
    .summary = "kill a container; what waits is refused",
    .example = "sandtrace kill 3f2a",
    .opts = options,
    .run = run,
};
