/* sandtrace demo: an agent in a real container, stopped in the act. */
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "cli/demo_story.h"
#include "cli/run_session.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST, KEEP };

static const struct st_opt options[] = {
    [LIST] = {"list", 'l', NULL, "say which there are, and show none"},
    [KEEP] = {"keep", 0, "DIR", "keep the trace and the key that verifies it there"},
    ST_OPT_END,
};

static int list(const struct st_cli *cli)
{
    for (const struct st_demo_scenario *const *s = st_demo_scenarios(); *s; s++) {
        st_auto_buf out = ST_BUF_INIT;
        struct st_jw w;

        if (!cli->json) {
            printf("%-14s %s\n", (*s)->name, (*s)->summary);
            continue;
        }
        st_jw_init(&w, &out);
        st_jw_object(&w);
        st_jw_kstr(&w, "scenario", (*s)->name);
        st_jw_kstr(&w, "summary", (*s)->summary);
        st_jw_end(&w, '}');
        puts(st_buf_cstr(&out));
    }
    return ST_EXIT_OK;
}

static int no_such(const struct st_verb *self, const char *name)
{
    struct st_suggestion best = {0};

    for (const struct st_demo_scenario *const *s = st_demo_scenarios(); *s; s++)
        st_suggest_offer(&best, name, (*s)->name);
    return st_cli_error(self, "there is no scenario '%s'%s%s%s; sandtrace demo --list names them", name,
                        best.word ? ", did you mean '" : "", best.word ? best.word : "",
                        best.word ? "'?" : "");
}

/* True: there may be more. */
static bool forget_one(void)
{
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "SANDTRACE_", 10) == 0) {
            st_auto_free char *name = st_xstrndup(*e, strcspn(*e, "="));

            return unsetenv(name) == 0;
        }
    return false;
}

/* What is set for this machine must not reach the demonstration's own configuration. */
static void forget_environment(void)
{
    while (forget_one())
        continue;
}

static int play(struct st_cli *cli, const struct st_verb *self, const char *name, const char *keep)
{
    st_auto_config machine = NULL;
    struct st_error err = {0};
    bool all = strcmp(name, "all") == 0, found = false;
    int code = ST_EXIT_OK;

    if (geteuid() != 0)
        return st_cli_error(self, "it starts containers, which only root can; sudo sandtrace demo %s", name);
    if (st_config_load(cli->config, &machine, &err) < 0)
        return st_cli_error(self, "%s", err.msg);
    forget_environment();
    st_run_fill_standard_fds();
    for (const struct st_demo_scenario *const *s = st_demo_scenarios(); *s; s++) {
        if (!all && strcmp((*s)->name, name) != 0)
            continue;
        if (found && !cli->json)
            putchar('\n');
        found = true;
        int one = st_demo_play(cli, self, machine, *s, keep);

        code = one > code ? one : code;
    }
    return found ? code : no_such(self, name);
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    const char *keep = NULL;
    bool lists = false;
    struct st_opts opts;
    char **args;
    int index, n, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0) {
        if (index == LIST)
            lists = true;
        else
            keep = opts.value;
    }
    if (index == ST_OPTS_EXIT)
        return code;
    n = st_opts_args(&opts, &args);
    if (n > 1)
        return st_cli_usage(self, "one scenario, or all; '%s' is one more", args[1]);
    return lists ? list(cli) : play(cli, self, n ? args[0] : "escape", keep);
}

const struct st_verb st_verb_demo = {
    .name = "demo",
    .args = "escape|stripe-exfil|persist|fork-bomb|tamper|approve|all",
    .summary = "see an agent stopped in the act (default: escape)",
    .example = "sudo sandtrace demo\n  sudo sandtrace demo tamper --keep /tmp/proof",
    .opts = options,
    .run = run,
};
