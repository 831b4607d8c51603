/* sandtrace reload: a container's policy is read again; it changes whole or not at all. */
#include "cli/request.h"
#include "cli/verbs.h"

static const struct st_opt options[] = {
    {"reason", 'm', "TEXT", "why; kept in the trace"},
    ST_OPT_END,
};

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    return st_request_run(cli, self, argc, argv, "reload", "policy read again:");
}

const struct st_verb st_verb_reload = {
    .name = "reload",
    .rare = true,
    .args = "ID…",
    .summary = "read a container's policy again, without a restart",
    .example = "sandtrace reload 3f2a",
    .opts = options,
    .run = run,
};
