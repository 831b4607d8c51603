/* sandtrace index: what the traces of this host say, in one database that can be searched. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "cli/progress.h"
#include "cli/trust.h"
#include "cli/verbs.h"
#include "config/config.h"
#include "desk/index.h"

#include <stdio.h>
#include <string.h>

enum { OPT_DB, OPT_FOLLOW, OPT_REBUILD };

static const struct st_opt options[] = {
    {"db", 0, "FILE", "the database (default: events_db of the configuration)"},
    {"follow", 'f', NULL, "go on as containers run, until it is interrupted"},
    {"rebuild", 0, NULL, "begin anew: everything is read from the traces again"},
    ST_OPT_END,
};

struct request {
    const struct st_verb *self;
    bool json, follow;
    bool trouble; /* some trace could not be read */
    struct st_buf line;
    struct st_progress progress;
};

/* How much there is to come is not known: some of it is in the database already. */
static void say_reading(void *ctx, const char *name, uint64_t events)
{
    struct request *r = ctx;

    if (!st_progress_due(&r->progress))
        return;
    r->progress.what = name;
    st_progress_show(&r->progress, 0, 0, events);
}

static void say_pass(void *ctx, uint64_t traces, uint64_t events)
{
    struct request *r = ctx;
    struct st_jw w;

    st_progress_end(&r->progress);
    if (r->follow && events == 0)
        return;
    if (r->json) {
        st_buf_clear(&r->line);
        st_jw_init(&w, &r->line);
        st_jw_object(&w);
        st_jw_kint(&w, "events", (int64_t)events);
        st_jw_kint(&w, "traces", (int64_t)traces);
        st_jw_end(&w, '}');
        puts(st_buf_cstr(&r->line));
    } else {
        printf("%llu new event%s in %llu trace%s\n", (unsigned long long)events, events == 1 ? "" : "s",
               (unsigned long long)traces, traces == 1 ? "" : "s");
    }
    fflush(stdout);
}

static void say_trouble(void *ctx, const struct st_error *err)
{
    struct request *r = ctx;

    st_progress_end(&r->progress);
    r->trouble = true;
    st_buf_clear(&r->line);
    st_add_printable(&r->line, err->msg, strlen(err->msg));
    st_cli_error(r->self, "%s", st_buf_cstr(&r->line));
}

static int run_index(struct request *r, struct st_cli *cli, const char *db, bool rebuild)
{
    st_auto_config config = NULL;
    st_auto_trust trust = {0};
    struct st_error err = {0};
    int rc;
    struct st_index_options o = {.rebuild = rebuild,
                                 .follow = r->follow,
                                 .stop_fd = -1,
                                 .on_pass = say_pass,
                                 .on_trouble = say_trouble,
                                 .ctx = r};

    if (st_config_load(cli->config, &config, &err) < 0 ||
        st_trust_add_folder(&trust, config->key_dir, &err) < 0)
        return st_cli_error(r->self, "%s", err.msg);
    o.db = db ? db : config->events_db;
    o.log_dir = config->log_dir;
    o.ingest = (struct st_ingest_options){.keys = trust.keys,
                                          .n_keys = trust.n,
                                          .allow_unsigned = config->allow_unsigned,
                                          .on_read = say_reading,
                                          .ctx = r};
    st_progress_begin(&r->progress, "index");
    rc = st_index(&o, &err);
    st_progress_end(&r->progress);
    if (rc < 0)
        return st_cli_error(r->self, "%s", err.msg);
    return r->trouble ? ST_EXIT_FAILED : ST_EXIT_OK;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct request r = {.self = self};
    const char *db = NULL;
    bool rebuild = false;
    struct st_opts opts;
    char **args;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        switch (index) {
        case OPT_DB: db = opts.value; break;
        case OPT_FOLLOW: r.follow = true; break;
        default: rebuild = true; break;
        }
    if (index == ST_OPTS_EXIT)
        return code;
    if (st_opts_args(&opts, &args) != 0)
        return st_cli_usage(self, "no arguments: all traces of log_dir are read");
    r.json = cli->json || !isatty(STDOUT_FILENO);
    code = run_index(&r, cli, db, rebuild);
    st_buf_free(&r.line);
    return code;
}

const struct st_verb st_verb_index = {
    .name = "index",
    .summary = "put all traces into a database, to search it and for the desk",
    .example = "sandtrace index --follow",
    .opts = options,
    .run = run,
};
