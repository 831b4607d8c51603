/* sandtrace approve: what waits may go on, once or for the rest of the container's run. */
#include "cli/decide.h"
#include "cli/verbs.h"

enum { ALWAYS, REASON };

static const struct st_opt options[] = {
    [ALWAYS] = {"always", 0, NULL, "and each time again in this run (network: this trace)"},
    [REASON] = {"reason", 'm', "TEXT", "why; kept in the trace"},
    ST_OPT_END,
};

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct st_decide d = {.request = "approve"};
    struct st_opts opts;
    char **pauses;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0) {
        if (index == ALWAYS)
            d.always = true;
        else
            d.reason = opts.value;
    }
    if (index == ST_OPTS_EXIT)
        return code;
    index = st_opts_args(&opts, &pauses);
    return st_decide(cli, self, &d, pauses, index);
}

const struct st_verb st_verb_approve = {
    .name = "approve",
    .args = "PAUSE…",
    .summary = "let an operation that waits go on",
    .example = "sandtrace approve 5252ec --always --reason 'needed by the build'",
    .opts = options,
    .run = run,
};
