/* sandtrace doctor: what works on this machine, what does not, what that means, and how to mend it. */
#include "cli/doctor.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "cli/term.h"
#include "cli/verbs.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct st_opt options[] = {
    {"quiet", 'q', NULL, "only what is not ok"},
    ST_OPT_END,
};

struct round {
    const struct st_cli *cli;
    bool quiet;
    const char *group; /* whose heading was shown */
    unsigned counts[ST_HEALTHS];
    unsigned stops;
    struct st_buf what_stops;
    sigset_t held;
};

static const char *text_of(const char *found, const char *usual)
{
    return found[0] ? found : usual;
}

static void print_json(const struct st_check *c, const struct st_finding *f)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;
    bool well = f->health == ST_HEALTH_OK;

    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kstr(&w, "check", c->name);
    st_jw_kstr(&w, "detail", f->detail);
    st_jw_kstr(&w, "group", c->group);
    st_jw_kstr(&w, "means", well ? NULL : text_of(f->means, c->means));
    st_jw_kstr(&w, "mend", well ? NULL : text_of(f->mend, c->mend));
    st_jw_kbool(&w, "needed", f->needed);
    st_jw_kstr(&w, "status", st_health_name(f->health));
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

static void print_text(const char *label, const char *text)
{
    st_auto_buf out = ST_BUF_INIT;

    st_add_printable(&out, text, strlen(text));
    printf("%s%s\n", label, st_buf_cstr(&out));
}

static void print_finding(struct round *r, const struct st_check *c, const struct st_finding *f)
{
    static const enum st_term_style styles[] = {ST_TERM_GOOD, ST_TERM_WARN, ST_TERM_WARN, ST_TERM_DIM};
    bool stops = f->health == ST_HEALTH_MISSING && f->needed;

    if (r->quiet && f->health == ST_HEALTH_OK)
        return;
    if (!r->group || strcmp(r->group, c->group) != 0)
        printf("%s%s\n", r->group ? "\n" : "", c->group);
    r->group = c->group;
    printf("  %s%-8s%s  %-20s ", st_term_on(r->cli->color, stops ? ST_TERM_ALARM : styles[f->health]),
           st_health_name(f->health), st_term_off(r->cli->color), c->name);
    print_text("", f->detail);
    if (f->health == ST_HEALTH_OK || f->health == ST_HEALTH_UNKNOWN)
        return;
    print_text("            means: ", text_of(f->means, c->means));
    print_text("            mend:  ", text_of(f->mend, c->mend));
}

/* Groups of ours are there: who is told to end does when they are gone. */
static void hold_signals(sigset_t *held, sigset_t *before)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

    sigemptyset(held);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaddset(held, signals[i]);
    sigprocmask(SIG_BLOCK, held, before);
}

static bool is_told_to_end(const sigset_t *held)
{
    sigset_t pending;

    sigpending(&pending);
    sigandset(&pending, &pending, held);
    return !sigisemptyset(&pending);
}

static void look_at(struct round *r, const struct st_doctor *d, const struct st_check *checks)
{
    for (const struct st_check *c = checks; c->name && !is_told_to_end(&r->held); c++) {
        struct st_finding f;

        st_doctor_look(d, c, &f);
        r->counts[f.health]++;
        if (f.health == ST_HEALTH_MISSING && f.needed)
            st_buf_addf(&r->what_stops, "%s%s", r->stops++ ? ", " : "", c->name);
        if (r->cli->json)
            print_json(c, &f);
        else
            print_finding(r, c, &f);
    }
}

static void sum_up(const struct round *r)
{
    printf("%s%u ok, %u degraded, %u missing", r->group ? "\n" : "", r->counts[ST_HEALTH_OK],
           r->counts[ST_HEALTH_DEGRADED], r->counts[ST_HEALTH_MISSING]);
    if (r->counts[ST_HEALTH_UNKNOWN])
        printf(", %u not looked at", r->counts[ST_HEALTH_UNKNOWN]);
    if (r->stops)
        printf("\nContainers can't be started under watch here, for want of: %s\n",
               st_buf_cstr(&r->what_stops));
    else
        printf("\nContainers can be started under watch here.\n");
}

static int examine(struct round *r, const struct st_cli *cli)
{
    const struct st_check *const tables[] = {st_doctor_kernel(), st_doctor_groups_checks(),
                                             st_doctor_network(), st_doctor_places(), st_doctor_engines()};
    struct st_doctor d = {.root = geteuid() == 0};
    struct st_error err = {0};
    st_auto_config config = NULL;
    sigset_t before;

    if (st_config_load(cli->config, &config, &err) < 0)
        d.fault = err.msg;
    d.config = config;
    hold_signals(&r->held, &before);
    if (d.root)
        st_doctor_groups_make(&d.groups);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        look_at(r, &d, tables[i]);
    st_doctor_groups_end(&d.groups);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!cli->json)
        sum_up(r);
    return r->stops ? ST_EXIT_FAILED : ST_EXIT_OK;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct round r = {.cli = cli};
    struct st_opts opts;
    char **args;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        r.quiet = true;
    if (index == ST_OPTS_EXIT)
        return code;
    if (st_opts_args(&opts, &args) > 0)
        return st_cli_usage(self, "unexpected argument '%s'", args[0]);
    code = examine(&r, cli);
    st_buf_free(&r.what_stops);
    return code;
}

const struct st_verb st_verb_doctor = {
    .name = "doctor",
    .summary = "say what works on this machine, and how to mend the rest",
    .example = "sudo sandtrace doctor --quiet",
    .opts = options,
    .run = run,
};
