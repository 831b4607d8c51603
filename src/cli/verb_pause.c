/* sandtrace pause: a person makes a container stand still. */
#include "cli/request.h"
#include "cli/verbs.h"

static const struct st_opt options[] = {
    {"reason", 'm', "TEXT", "why; kept in the trace"},
    ST_OPT_END,
};

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    return st_request_run(cli, self, argc, argv, "pause", "paused");
}

const struct st_verb st_verb_pause = {
    .name = "pause",
    .args = "ID…",
    .summary = "make a container stand still until it is resumed",
    .example = "sandtrace pause 3f2a --reason lunch",
    .opts = options,
    .run = run,
};
