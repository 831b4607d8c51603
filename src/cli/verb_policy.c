/* sandtrace policy: looks at policies with the code that the monitor decides by: check, test, diff, list,
 * show, explain. */
#include "cli/verb_policy.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "cli/rejudge.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STDIN_MAX ((size_t)16 << 20)

enum { OPT_TRACE = ST_EVENT_WORDS, OPT_EXPECT, OPT_ALL, OPT_STRICT, OPT_CONTAINER };

static const struct st_opt options[] = {
#define ROW(word, name, arg, help, with) {name, 0, arg, help, (with) != 0},
    ST_EVENT_WORD_TABLE(ROW)
#undef ROW
        {"trace", 0, "TRACE", "test, diff: the events of a trace"},
    {"expect", 0, "FILE", "test: cases with what is expected of each"},
    {"all", 'a', NULL, "test: also what was allowed, and other rules"},
    {"strict", 0, NULL, "check: warnings are errors", true},
    {"container", 0, "ID", "explain: of a container that runs", true},
    ST_OPT_END,
};

void st_put_str(struct st_str s)
{
    st_auto_buf b = ST_BUF_INIT;

    st_add_printable(&b, s.p ? s.p : "", s.p ? s.len : 0);
    fputs(st_buf_cstr(&b), stdout);
}

void st_put_text(const char *s)
{
    st_put_str(st_str(s));
}

/* ---- loading ---- */

static int load_stdin(const struct policy_cmd *c, struct st_policy **out, struct st_diagnostics *diags,
                      struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    int rc = st_read_fd(STDIN_FILENO, STDIN_MAX, &text, err);

    return rc < 0 ? rc : st_policy_parse("-", st_buf_cstr(&text), text.len, &c->source, out, diags, err);
}

static int load_into(const struct policy_cmd *c, const char *what, struct st_policy **out,
                     struct st_diagnostics *diags, struct st_error *err)
{
    if (strcmp(what, "-") == 0)
        return load_stdin(c, out, diags, err);
    return st_load_policy_here(what, &c->source, out, diags, err);
}

int st_policy_cmd_load(const struct policy_cmd *c, const char *what, bool warnings, struct st_policy **out)
{
    st_auto_diag diags = {0};
    st_auto_buf text = ST_BUF_INIT;
    struct st_error err = {0};
    int rc = load_into(c, what, out, &diags, &err);

    if (rc < 0 || (warnings && diags.n))
        st_diag_text(&diags, isatty(STDERR_FILENO) && c->cli->color, &text);
    fputs(st_buf_cstr(&text), stderr);
    if (rc < 0 && diags.errors == 0)
        return st_cli_error(c->verb, "%s", err.msg);
    return rc < 0 ? ST_EXIT_USAGE : ST_EXIT_OK;
}

/* ---- check ---- */

static void summary_json(const char *what, const struct st_policy *p, const struct st_diagnostics *d)
{
    st_auto_buf out = ST_BUF_INIT;
    const struct st_rule *rules;
    struct st_jw w;

    st_diag_json(d, &out);
    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kint(&w, "errors", (int64_t)d->errors);
    st_jw_kstr(&w, "file", what);
    if (p)
        st_jw_kstr(&w, "name", st_policy_name(p));
    st_jw_kbool(&w, "ok", p != NULL);
    if (p) {
        st_jw_kint(&w, "rules", (int64_t)st_policy_rules(p, &rules));
        st_jw_kstr(&w, "sha256", st_policy_sha256(p));
    }
    st_jw_kint(&w, "warnings", (int64_t)d->warnings);
    st_jw_end(&w, '}');
    st_buf_addc(&out, '\n');
    fwrite(out.data, 1, out.len, stdout);
}

static void summary_text(const struct policy_cmd *c, const char *what, const struct st_policy *p,
                         const struct st_diagnostics *d)
{
    st_auto_buf text = ST_BUF_INIT;
    const struct st_rule *rules;

    st_diag_text(d, c->cli->color, &text);
    fputs(st_buf_cstr(&text), stdout);
    st_put_text(what);
    if (p)
        printf(": ok: %s, %s%s, %zu rules%s\n", st_policy_name(p), st_policy_mode_name(st_policy_mode(p)),
               st_policy_locked(p) ? ", locked" : "", st_policy_rules(p, &rules),
               d->warnings ? ", with warnings" : "");
    else
        printf(": %zu error%s\n", d->errors, d->errors == 1 ? "" : "s");
}

static int check_one(const struct policy_cmd *c, const char *what)
{
    st_auto_policy p = NULL;
    st_auto_diag diags = {0};
    struct st_error err = {0};
    int rc = load_into(c, what, &p, &diags, &err);

    if (rc < 0 && diags.errors == 0)
        return st_cli_error(c->verb, "%s", err.msg);
    if (c->cli->json)
        summary_json(what, p, &diags);
    else
        summary_text(c, what, p, &diags);
    if (rc < 0)
        return rc == -EINVAL ? ST_EXIT_FAILED : ST_EXIT_USAGE;
    return c->strict && diags.warnings ? ST_EXIT_FAILED : ST_EXIT_OK;
}

int st_policy_check(struct policy_cmd *c, int argc, char **args)
{
    int worst = ST_EXIT_OK;

    if (argc == 0)
        return st_cli_usage(c->verb, "which policy? name files, policies, or - for standard input");
    for (int i = 0; i < argc; i++) {
        int code = check_one(c, args[i]);

        worst = code > worst ? code : worst;
    }
    return worst;
}

/* ---- dispatch ---- */

static const struct command {
    const char *name;
    int (*run)(struct policy_cmd *c, int argc, char **args);
    bool words, trace, expect, all, strict, container; /* the options that it takes */
} commands[] = {
    {"check", st_policy_check, false, false, false, false, true, false},
    {"test", st_policy_test, true, true, true, true, false, false},
    {"diff", st_policy_diff, false, true, false, false, false, false},
    {"list", st_policy_list, false, false, false, false, false, false},
    {"show", st_policy_show, false, false, false, false, false, false},
    {"explain", st_policy_explain_plan, false, false, false, false, false, true},
};

static bool has_words(const struct policy_cmd *c)
{
    for (unsigned i = 0; i < ST_EVENT_WORDS; i++)
        if (c->words.values[i])
            return true;
    return false;
}

static int unknown_command(const struct policy_cmd *c, const char *word)
{
    struct st_suggestion best = {0};

    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        st_suggest_offer(&best, word, commands[i].name);
    if (best.word)
        return st_cli_usage(c->verb, "there is no `policy %s`; did you mean `%s`?", word, best.word);
    return st_cli_usage(c->verb, "there is no `policy %s`; say check, test, diff, list, show or explain",
                        word);
}

static int dispatch(struct policy_cmd *c, int argc, char **args)
{
    const struct command *cmd = NULL;

    if (argc == 0)
        return st_cli_usage(c->verb, "say check, test, diff, list, show or explain");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, args[0]) == 0)
            cmd = &commands[i];
    if (!cmd)
        return unknown_command(c, args[0]);
    if ((!cmd->words && has_words(c)) || (!cmd->trace && c->trace) || (!cmd->expect && c->expect) ||
        (!cmd->all && c->all) || (!cmd->strict && c->strict) || (!cmd->container && c->container))
        return st_cli_usage(c->verb, "`policy %s` does not take one of these options", args[0]);
    return cmd->run(c, argc - 1, args + 1);
}

static void take_option(struct policy_cmd *c, int index, const char *value)
{
    if (index < ST_EVENT_WORDS)
        c->words.values[index] = value ? value : "true"; /* one that takes none */
    else if (index == OPT_TRACE)
        c->trace = value;
    else if (index == OPT_EXPECT)
        c->expect = value;
    else if (index == OPT_CONTAINER)
        c->container = value;
    else if (index == OPT_ALL)
        c->all = true;
    else
        c->strict = true;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct policy_cmd c = {.cli = cli, .verb = self, .source = {.untrusted_ok = true}};
    st_auto_config config = NULL;
    struct st_error err = {0};
    struct st_opts opts;
    char **args;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        take_option(&c, index, opts.value);
    if (index == ST_OPTS_EXIT)
        return code;
    if (st_config_load(cli->config, &config, &err) < 0)
        return st_cli_error(self, "%s", err.msg);
    c.depth_by_policy = config->depth == ST_DEPTH_BY_POLICY;
    c.source.dirs = (const char *const *)config->policy_dirs;
    while (config->policy_dirs[c.source.n_dirs])
        c.source.n_dirs++;
    argc = st_opts_args(&opts, &args);
    return dispatch(&c, argc, args);
}

const struct st_verb st_verb_policy = {
    .name = "policy",
    .args = "check|test|diff|list|show|explain POLICY…",
    .summary = "check policies, ask what they would decide, compare them",
    .example = "sandtrace policy test agent-default --path /etc/shadow --access read",
    .opts = options,
    .run = run,
};
