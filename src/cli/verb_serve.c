/* sandtrace serve: the review desk in a browser. The server is a program of its own (sandtrace-desk), so that
 * this one carries no HTTP; here its options are read, and then it is exec'd. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/beside.h"
#include "cli/desk_place.h"
#include "cli/verbs.h"

#include <stdint.h>
#include <string.h>

enum { OPT_LISTEN, OPT_DB, OPT_READ_ONLY, OPT_NO_INDEX, OPT_NO_OPEN_LINK, OPT_METRICS_OPEN };

static const struct st_opt options[] = {
    {"listen", 'l', "WHERE", "a loopback address or unix:PATH (default: " ST_DESK_LISTEN ")"},
    {"db", 0, "FILE", "the database (default: events_db of the configuration)"},
    {"read-only", 0, NULL, "nothing can be approved, denied, paused or killed"},
    {"no-index", 0, NULL, "somebody else reads the traces: sandtrace index --follow"},
    {"no-open-link", 0, NULL, "print no link that logs in once"},
    {"metrics-open", 0, NULL, "/metrics without the token"},
    ST_OPT_END,
};

/* Beside us, as in a build tree, or where it is installed. */
static char *find_program(void)
{
    char *path = st_beside("sandtrace-desk");

    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return st_xstrdup(ST_LIBEXECDIR "/sandtrace-desk");
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    st_auto_free char *program = NULL, *listen = NULL, *db = NULL, *config = NULL;
    st_auto_free char *own = st_beside("sandtrace"), *tool = own ? st_xasprintf("sandtrace=%s", own) : NULL;
    struct st_desk_place place;
    struct st_error err = {0};
    struct st_opts opts;
    char name[] = "sandtrace-desk", *words[12] = {name}, **args;
    int index, n = 1, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        switch (index) {
        case OPT_LISTEN:
            free(listen);
            listen = st_xasprintf("listen=%s", opts.value);
            break;
        case OPT_DB:
            free(db);
            db = st_xasprintf("db=%s", opts.value);
            break;
        default:
            if (n < 6)
                words[n++] = (char *)(uintptr_t)options[index].name;
            break;
        }
    if (index == ST_OPTS_EXIT)
        return code;
    if (st_opts_args(&opts, &args) != 0)
        return st_cli_usage(self, "no arguments");
    if (listen && st_desk_place_parse(listen + strlen("listen="), &place, &err) < 0)
        return st_cli_error(self, "%s", err.msg);
    config = cli->config ? st_xasprintf("config=%s", cli->config) : NULL;
    for (size_t i = 0; i < 4; i++) {
        char *word = (char *[]){listen, db, config, tool}[i];

        if (word)
            words[n++] = word;
    }
    program = find_program();
    execv(program, words);
    return st_cli_error(self, "%s: %s", program, strerror(errno));
}

const struct st_verb st_verb_serve = {
    .name = "serve",
    .summary = "the review desk in a browser: what agents did, what waits",
    .example = "sandtrace serve",
    .opts = options,
    .run = run,
};
