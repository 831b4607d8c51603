/* sandtrace deny: what waits is refused; the container goes on. */
#include "cli/decide.h"
#include "cli/verbs.h"

static const struct st_opt options[] = {
    {"reason", 'm', "TEXT", "why; kept in the trace"},
    ST_OPT_END,
};

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct st_decide d = {.request = "deny"};
    struct st_opts opts;
    char **pauses;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        d.reason = opts.value;
    if (index == ST_OPTS_EXIT)
        return code;
    index = st_opts_args(&opts, &pauses);
    return st_decide(cli, self, &d, pauses, index);
}

const struct st_verb st_verb_deny = {
    .name = "deny",
    .args = "PAUSE…",
    .summary = "refuse an operation that waits; the container goes on",
    .example = "sandtrace deny 5252ec --reason 'not its business'",
    .opts = options,
    .run = run,
};
