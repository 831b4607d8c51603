/* sandtrace resume: the end of `sandtrace pause`. What waits for a decision is not decided by it. */
#include "cli/request.h"
#include "cli/verbs.h"

static const struct st_opt options[] = {
    {"force", 'f', NULL, "refuse what waits for a decision, and go on"},
    {"reason", 'm', "TEXT", "why; kept in the trace"},
    ST_OPT_END,
};

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    return st_request_run(cli, self, argc, argv, "resume", "resumed");
}

const struct st_verb st_verb_resume = {
    .name = "resume",
    .args = "ID…",
    .summary = "let a container go on that somebody paused",
    .example = "sandtrace resume 3f2a",
    .opts = options,
    .run = run,
};
