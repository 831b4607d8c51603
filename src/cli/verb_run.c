/* sandtrace run: a command in a container of its own over this machine's programs, watched, without an
 * engine. */
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/run_copy.h"
#include "cli/run_exit.h"
#include "cli/run_folder.h"
#include "cli/run_job.h"
#include "cli/run_net.h"
#include "cli/run_session.h"
#include "cli/run_summary.h"
#include "cli/verbs.h"

#include <string.h>
#include <sys/stat.h>

enum { POLICY, DEPTH, NETWORK, BIND, ENV, USER, TRACE, INTERACTIVE };

static const struct st_opt options[] = {
    [POLICY] = {"policy", 0, "NAME", "what it may do (default: as configured)"},
    [DEPTH] = {"depth", 0, "guard|record|strict", "which opens are asked about"},
    [NETWORK] = {"network", 0, "none|user|host", "default: none; user wants slirp4netns"},
    [BIND] = {"bind", 0, "SRC[:DST][:ro]", "show it a file or folder of this machine"},
    [ENV] = {"env", 0, "NAME[=VALUE]", "set a variable, or hand on ours"},
    [USER] = {"user", 0, "NAME|UID[:GID]", "as whom (default: who called sudo)"},
    [TRACE] = {"trace", 0, "FILE", "copy the trace there at the end"},
    [INTERACTIVE] = {"interactive", 'i', NULL, "give it a terminal, even if ours is none"},
    ST_OPT_END,
};

static int take_option(struct st_run_args *a, int index, const char *value, struct st_error *err)
{
    switch (index) {
    case POLICY: a->policy = value; return 0;
    case DEPTH: return st_run_parse_depth(value, &a->depth, err);
    case NETWORK: return st_run_parse_network(value, &a->network, err);
    case BIND: return st_run_add_bind(a, value, err);
    case ENV: return st_run_add_env(a, value, err);
    case USER: a->user = value; return 0;
    case TRACE: a->trace = value; return 0;
    default: a->interactive = true; return 0;
    }
}

/* ST_EXIT_OK, or the code to end with; *over: there is nothing to run. */
static int read_args(struct st_run_args *a, struct st_cli *cli, const struct st_verb *self, int argc,
                     char **argv, bool *over)
{
    struct st_error err = {0};
    struct st_opts opts;
    int index, code = ST_EXIT_OK;

    *over = true;
    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        if (take_option(a, index, opts.value, &err) < 0)
            return st_cli_usage(self, "--%s: %s", options[index].name, err.msg);
    if (index == ST_OPTS_EXIT)
        return code;
    a->n_command = st_opts_args(&opts, &a->command);
    if (a->n_command == 0)
        return st_cli_usage(self, "which command?");
    *over = false;
    return ST_EXIT_OK;
}

/* A configuration in JSON can't carry other bytes, and would change them. */
static int check_text(const struct st_run_job *job, struct st_error *err)
{
    for (int i = 0; i < job->args->n_command; i++)
        if (!st_utf8_valid(job->args->command[i], strlen(job->args->command[i])))
            return st_fail(err, EILSEQ,
                           "word %d of the command is no UTF-8, which a container's configuration wants",
                           i + 1);
    for (char **e = job->env; *e; e++)
        if (!st_utf8_valid(*e, strlen(*e)))
            return st_fail(err, EILSEQ,
                           "the variable %.*s is no UTF-8, which a container's configuration wants",
                           (int)strcspn(*e, "="), *e);
    return 0;
}

static bool binds_workspace(const struct st_run_args *a)
{
    for (size_t i = 0; i < a->n_binds; i++)
        if (a->binds[i].target && strcmp(a->binds[i].target, ST_RUN_WORKSPACE) == 0)
            return true;
    return false;
}

/* Everything that can be known to be wrong before anything is made. */
static int prepare(struct st_run_job *job, struct st_error *err)
{
    const struct st_run_args *a = job->args;

    if (geteuid() != 0)
        return st_fail(err, EPERM,
                       "only root can make a container; sudo sandtrace run … (the command then runs as you)");
    if (!binds_workspace(a) && st_run_check_folder(job->workspace, job->who->home, err) < 0)
        return -err->errnum;
    job->env = st_run_environment(a, job->who, err);
    if (!job->env || check_text(job, err) < 0)
        return -err->errnum;
    return a->network == ST_RUN_NET_USER ? st_run_net_find(&job->stack, err) : 0;
}

static int go(struct st_run_job *job, struct st_cli *cli, const struct st_verb *self)
{
    struct st_run_copy copy = ST_RUN_COPY_NONE;
    struct st_error err = {0};
    st_auto_free char *trace = NULL;
    struct st_run_end end = {.copy = job->args->trace};
    int rc = prepare(job, &err);

    if (rc == 0 && job->args->trace)
        rc = st_run_copy_begin(&copy, job->args->trace, &err);
    if (rc == 0)
        rc = st_run_job(job, &err);
    if (rc < 0) {
        st_run_copy_end(&copy);
        st_cli_error(self, "%s", err.msg);
        return ST_RUN_EXIT_FAILED;
    }
    trace = st_xasprintf("%s/%s.jsonl", job->config->log_dir, job->id);
    end.id = job->id;
    end.code = job->code;
    end.left_out = job->left_out;
    end.copied = job->args->trace && st_run_copy_make(&copy, trace, job->who, &err) == 0;
    st_run_copy_end(&copy);
    if (job->args->trace && !end.copied) {
        st_cli_error(self, "%s; the trace is %s", err.msg, trace);
        end.code = ST_RUN_EXIT_FAILED;
    }
    return st_run_summary(cli, self, job->config, &end);
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    st_auto_run_args args = {0};
    st_auto_run_who who = {0};
    st_auto_config config = NULL;
    st_auto_free char *folder = getcwd(NULL, 0);
    struct st_run_job job = {.cli = cli, .args = &args, .who = &who};
    struct st_error err = {0};
    bool over;
    int code = read_args(&args, cli, self, argc, argv, &over);

    if (over)
        return code;
    st_run_fill_standard_fds();
    if (!folder) {
        code = st_cli_error(self, "the current folder: %s", strerror(errno));
    } else if (st_config_load(cli->config, &config, &err) < 0 || st_run_who_find(args.user, &who, &err) < 0) {
        code = st_cli_error(self, "%s", err.msg);
    } else {
        job.config = config;
        job.workspace = folder;
        job.umask = umask(022);
        code = go(&job, cli, self);
    }
    st_run_environment_free(&job.env);
    free(job.stack);
    return code;
}

const struct st_verb st_verb_run = {
    .name = "run",
    .args = "[--] COMMAND…",
    .summary = "run a command in a container of this machine's programs, watched",
    .example = "sudo sandtrace run -- sh -c 'make && make test'\n  sudo sandtrace run --network user "
               "--policy ci-build npm test",
    .opts = options,
    .takes_command = true,
    .run = run,
};
