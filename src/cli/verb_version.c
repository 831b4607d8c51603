/* sandtrace version: what this is, for people and for bug reports. */
#include "base/buf.h"
#include "base/json_write.h"
#include "cli/verbs.h"

#include <stdio.h>

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    char **args;
    int code = ST_EXIT_OK, n = st_opts_only_args(self, cli, argc, argv, &args, &code);

    if (n == ST_OPTS_EXIT)
        return code;
    if (n != 0)
        return st_cli_usage(self, "unexpected argument '%s'", args[0]);
    if (cli->json) {
        st_auto_buf out = ST_BUF_INIT;
        struct st_jw w;

        st_jw_init(&w, &out);
        st_jw_object(&w);
        st_jw_kstr(&w, "version", PACKAGE_VERSION);
        st_jw_end(&w, '}');
        puts(st_buf_cstr(&out));
    } else {
        puts("sandtrace " PACKAGE_VERSION);
    }
    return code;
}

const struct st_verb st_verb_version = {
    .name = "version",
    .rare = true,
    .summary = "show the version",
    .example = "sandtrace version --json",
    .run = run,
};
