/* sandtrace review: tasks about containers that ended by a violation: look at them, and close them. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/printable.h"
#include "cli/term.h"
#include "cli/verbs.h"
#include "config/config.h"
#include "desk/review.h"
#include "desk/review_tell.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_ALL, OPT_VERDICT, OPT_REASON };

static const struct st_opt options[] = {
    {"all", 'a', NULL, "list: those that are closed too"},
    {"verdict", 0, "WORD", "close: benign, malicious, policy (that was wrong) or other"},
    {"reason", 0, "TEXT", "close: why"},
    ST_OPT_END,
};

struct request {
    const struct st_verb *self;
    const struct st_config *config;
    bool json, color, all;
    const char *verdict, *reason;
};

static void print_json(const struct st_review *r)
{
    st_auto_buf line = ST_BUF_INIT;

    st_review_write_all(r, &line);
    puts(st_buf_cstr(&line));
}

/* What others chose never acts on a terminal. */
static void print_text(const char *label, const char *text)
{
    st_auto_buf out = ST_BUF_INIT;

    if (!text)
        return;
    st_add_printable(&out, text, strlen(text));
    printf("%-10s %s\n", label, st_buf_cstr(&out));
}

/* ---- list ---- */

static void print_row(const struct request *q, const struct st_review *r)
{
    st_auto_buf out = ST_BUF_INIT;
    bool open = r->state == ST_REVIEW_OPEN;

    if (q->json) {
        print_json(r);
        return;
    }
    st_add_printable(&out, r->id, strlen(r->id));
    st_buf_adds(&out, "  ");
    st_add_printable(&out,
                     r->broken   ? r->broken
                     : r->reason ? r->reason
                                 : "",
                     strlen(r->broken   ? r->broken
                            : r->reason ? r->reason
                                        : ""));
    printf("%s%-9s%s  %-8s  %.19s  %s\n", st_term_on(q->color, open ? ST_TERM_ALARM : ST_TERM_DIM),
           open ? "open" : r->verdict, st_term_off(q->color), r->severity ? r->severity : "-",
           r->opened ? r->opened : "-", st_buf_cstr(&out));
}

static int list(const struct request *q)
{
    st_auto_reviews all = {0};
    struct st_error err = {0};
    size_t shown = 0;

    if (st_review_list(q->config->quarantine_dir, &all, &err) < 0)
        return st_cli_error(q->self, "%s", err.msg);
    for (size_t i = 0; i < all.n; i++)
        if (q->all || all.list[i].state == ST_REVIEW_OPEN) {
            print_row(q, &all.list[i]);
            shown++;
        }
    if (!q->json && !shown)
        puts(all.n ? "nothing is open; --all lists what is closed" : "nothing was quarantined");
    if (all.more)
        st_cli_error(q->self, "there are more than %d; the rest is not listed", ST_REVIEW_LIST_MAX);
    return ST_EXIT_OK;
}

/* ---- show ---- */

static void print_snapshot(const struct st_review_snapshot *s)
{
    printf("snapshot   %lld processes, %lld sockets, %lld mounts; %lld files in files.tar (%lld bytes), %lld "
           "deleted, %lld left out\n",
           (long long)s->processes, (long long)s->sockets, (long long)s->mounts, (long long)s->files,
           (long long)s->tar_bytes, (long long)s->deleted, (long long)s->omitted);
    printf("           of %s, %s, in %lld ms\n", s->kind ? s->kind : "nothing",
           s->frozen ? "while it was frozen" : "after its end", (long long)s->took_ms);
    print_text("missing", s->failure);
    print_text("sha256", s->sha256);
}

static void print_closing(const struct st_review *r)
{
    if (r->state == ST_REVIEW_CLOSED) {
        print_text("verdict", r->verdict);
        print_text("because", r->closed_reason);
        print_text("by", r->closed_by);
        print_text("at", r->closed_at);
        return;
    }
    printf("\nRead the trace with: sandtrace report ");
    printf("%s/%s\nClose it with: sandtrace review close %s --verdict benign|malicious|policy|other --reason "
           "TEXT\n",
           r->folder, r->trace ? r->trace : "", r->id);
}

static int show(const struct request *q, const char *id)
{
    st_auto_review r = {0};
    struct st_error err = {0};

    if (st_review_load(q->config->quarantine_dir, id, &r, &err) < 0)
        return st_cli_error(q->self, "%s", err.msg);
    if (q->json) {
        print_json(&r);
        return ST_EXIT_OK;
    }
    print_text("review", r.id);
    print_text("state", st_review_state_name(r.state));
    print_text("container", r.container);
    print_text("agent", r.agent_id);
    print_text("image", r.image ? r.image : "not told by its engine");
    print_text("broken", r.broken);
    print_text("opened", r.opened);
    print_text("severity", r.severity);
    print_text("rule", r.rule);
    print_text("reason", r.reason);
    print_text("ended by", r.cause);
    print_text("event", r.event_id);
    print_text("policy", r.policy);
    print_text("folder", r.folder);
    if (!r.broken)
        print_snapshot(&r.snapshot);
    print_closing(&r);
    return ST_EXIT_OK;
}

/* ---- close ---- */

static char *whoami(void)
{
    const struct passwd *p = getpwuid(getuid());
    const char *sudo = getenv("SUDO_USER");

    return st_xasprintf("%.100s (uid %u)%s%.100s", p ? p->pw_name : "?", (unsigned)getuid(),
                        sudo && *sudo ? ", by sudo of " : "", sudo ? sudo : "");
}

static int close_task(const struct request *q, const char *id)
{
    st_auto_free char *by = whoami();
    st_auto_review r = {0};
    struct st_error err = {0};

    if (!q->verdict || !q->reason)
        return st_cli_usage(q->self, "close needs --verdict and --reason");
    if (st_review_close(q->config->quarantine_dir, id, q->verdict, q->reason, by, &err) < 0) {
        st_cli_error(q->self, "%s", err.msg);
        return err.errnum == EALREADY ? ST_EXIT_FAILED : ST_EXIT_USAGE;
    }
    if (st_review_load(q->config->quarantine_dir, id, &r, &err) < 0)
        return st_cli_error(q->self, "%s", err.msg);
    if (q->json)
        print_json(&r);
    else
        printf("%s is closed: %s\n", r.id, q->verdict);
    if (q->config->on_review &&
        st_review_tell((const char *const *)q->config->on_review, "closed", &r, &err) < 0)
        st_cli_error(q->self, "closed, but %s", err.msg);
    return ST_EXIT_OK;
}

/* ---- tell ---- */

static int tell(const struct request *q, const char *id)
{
    const char *const *program = (const char *const *)q->config->on_review;
    st_auto_review r = {0};
    struct st_error err = {0};

    if (!program)
        return st_cli_error(q->self, "nobody to tell: on_review is not set in the configuration");
    if (st_review_load(q->config->quarantine_dir, id, &r, &err) < 0)
        return st_cli_error(q->self, "%s", err.msg);
    if (st_review_tell(program, r.state == ST_REVIEW_OPEN ? "opened" : "closed", &r, &err) < 0) {
        st_cli_error(q->self, "%s", err.msg);
        return ST_EXIT_FAILED;
    }
    return ST_EXIT_OK;
}

static int choose(const struct request *q, int n, char **args)
{
    static const struct {
        const char *name;
        int (*run)(const struct request *q, const char *id);
    } with_id[] = {{"show", show}, {"close", close_task}, {"tell", tell}};

    if (n == 0 || strcmp(args[0], "list") == 0)
        return n <= 1 ? list(q) : st_cli_usage(q->self, "list takes no argument");
    for (size_t i = 0; i < sizeof(with_id) / sizeof(with_id[0]); i++)
        if (strcmp(args[0], with_id[i].name) == 0)
            return n == 2 ? with_id[i].run(q, args[1]) : st_cli_usage(q->self, "%s takes one ID", args[0]);
    return st_cli_usage(q->self, "no such command: %.50s", args[0]);
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct request q = {.self = self};
    st_auto_config config = NULL;
    struct st_error err = {0};
    struct st_opts opts;
    char **args;
    int index, n, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        switch (index) {
        case OPT_ALL: q.all = true; break;
        case OPT_VERDICT: q.verdict = opts.value; break;
        default: q.reason = opts.value; break;
        }
    if (index == ST_OPTS_EXIT)
        return code;
    n = st_opts_args(&opts, &args);
    if (st_config_load(cli->config, &config, &err) < 0)
        return st_cli_error(self, "%s", err.msg);
    q.config = config;
    q.color = cli->color;
    q.json = cli->json || !isatty(STDOUT_FILENO);
    return choose(&q, n, args);
}

const struct st_verb st_verb_review = {
    .name = "review",
    .args = "list|show|close|tell [ID]",
    .summary = "look at what was kept after a violation, and close the case",
    .example = "sandtrace review close 4f2a --verdict policy --reason 'rule too narrow'",
    .opts = options,
    .run = run,
};
