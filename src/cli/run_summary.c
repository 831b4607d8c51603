/* run_summary: see run_summary.h. */
#include "cli/run_summary.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/input.h"
#include "cli/report.h"
#include "cli/run_exit.h"
#include "cli/show.h"
#include "cli/term.h"
#include "cli/trust.h"
#include "cli/verify_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 5 /* refusals */

struct reading {
    struct st_report *report;
    struct st_decoder *decoder;
    uint64_t noted; /* against the policy, but it only records */
};

static void add_record(void *ctx, const struct st_frame *f, const struct st_line *line)
{
    struct reading *r = ctx;
    struct st_decoded d;
    struct st_error err;

    (void)line;
    if (st_decode(r->decoder, f, &d, &err) < 0) {
        r->report->unreadable++;
        return;
    }
    st_report_add(r->report, &d);
    if (d.has_verdict && d.verdict.result != ST_ALLOW && d.verdict.action == ST_ACT_NONE)
        st_tally_sum(&r->noted, d.ev.count > 1 ? d.ev.count : 1);
}

/* How many different ones, and how many of the uses were refused. */
static uint64_t used(const struct st_tally *t)
{
    uint64_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        n += t->items[i].count > t->items[i].refused;
    return n + (t->others > 0);
}

static uint64_t refused(const struct st_report *r)
{
    uint64_t n = 0;

    for (size_t i = 1; i < sizeof(r->by_outcome) / sizeof(r->by_outcome[0]); i++)
        n += r->by_outcome[i];
    return n;
}

/* ---- for people ---- */

static void count(struct st_buf *out, uint64_t n, const char *one, const char *many)
{
    if (n)
        st_buf_addf(out, "%s%llu %s", out->len ? ", " : "", (unsigned long long)n, n == 1 ? one : many);
}

static void show_touched(const struct st_report *r, struct st_buf *out)
{
    const struct st_tally *t = r->tallies;
    st_auto_buf what = ST_BUF_INIT;

    count(&what, used(&t[ST_TALLY_RAN]), "program run", "programs run");
    count(&what, used(&t[ST_TALLY_WRITTEN]), "file written", "files written");
    count(&what, used(&t[ST_TALLY_DELETED]), "deleted or renamed", "deleted or renamed");
    count(&what, used(&t[ST_TALLY_TALKED]), "peer talked to", "peers talked to");
    if (r->bytes_sent) {
        st_buf_adds(&what, " (");
        st_show_bytes(&what, r->bytes_sent);
        st_buf_adds(&what, " sent)");
    }
    st_buf_addf(out, "  touched  %s\n", what.len ? st_buf_cstr(&what) : "nothing");
}

/* The keys of that table: outcome, what, rule, with tabs between them. */
static void show_refusal(const struct st_tally_item *item, struct st_buf *out)
{
    const char *what = strchr(item->key, '\t'), *rule = what ? strchr(what + 1, '\t') : NULL;

    if (!rule)
        return;
    st_buf_addf(out, rule[1] == '(' ? "           %.*s %s" : "           %.*s (%s)", (int)(rule - what - 1),
                what + 1, rule + 1);
    if (item->count > 1)
        st_buf_addf(out, " × %llu", (unsigned long long)item->count);
    st_buf_addc(out, '\n');
}

/* What people said to what was held. */
static void show_decided(const struct st_report *r, struct st_buf *out)
{
    const struct st_tally *t = &r->tallies[ST_TALLY_ANSWERS];

    for (size_t i = 0; i < t->n; i++)
        st_buf_addf(out, "%s%llu %s", i ? ", " : "  decided  ", (unsigned long long)t->items[i].count,
                    t->items[i].key);
    st_buf_adds(out, t->n ? "\n" : "");
}

static void show_refused(const struct st_report *r, uint64_t noted, bool color, struct st_buf *out)
{
    const struct st_tally *t = &r->tallies[ST_TALLY_REFUSED];
    uint64_t n = refused(r) - noted;

    st_buf_addf(out, "  refused  %s", st_term_on(color && n, ST_TERM_WARN));
    if (n)
        st_buf_addf(out, "%llu", (unsigned long long)n);
    else
        st_buf_adds(out, "nothing");
    st_buf_adds(out, st_term_off(color && n));
    if (noted)
        st_buf_addf(out, "; %llu against the policy, which only records them", (unsigned long long)noted);
    st_buf_addc(out, '\n');
    for (size_t i = 0; i < t->n && i < SHOWN; i++)
        show_refusal(&t->items[i], out);
    if (t->n > SHOWN || t->others)
        st_buf_adds(out, "           … sandtrace report tells all\n");
}

static void show_trace(const struct st_report *r, const char *file, bool color, struct st_buf *out)
{
    const struct st_verify_report *v = r->verified;

    st_buf_addf(out, "  trace    %s: %llu records, ", file, (unsigned long long)v->records);
    if (v->n_issues)
        st_buf_addf(out, "%sDOES NOT VERIFY%s: %s; sandtrace verify tells more\n",
                    st_term_on(color, ST_TERM_ALARM), st_term_off(color), v->issues[0].what);
    else
        st_buf_addf(out, "%sverifies%s, %s\n", st_term_on(color, ST_TERM_GOOD), st_term_off(color),
                    v->signed_seq ? "signed" : "not signed");
}

static void show_text(const struct reading *reading, const struct st_run_end *e, const char *file, bool color)
{
    const struct st_report *r = reading->report;
    st_auto_buf out = ST_BUF_INIT;

    st_buf_addf(&out, "%ssandtrace%s: %s ended with %d after ", st_term_on(color, ST_TERM_COMMAND),
                st_term_off(color), e->id, e->code);
    st_buf_addf(&out, "%.1f s\n", (double)(r->last_us - r->first_us) / 1e6);
    show_touched(r, &out);
    show_refused(r, reading->noted, color, &out);
    show_decided(r, &out);
    show_trace(r, file, color, &out);
    if (e->copied)
        st_buf_addf(&out, "           copied to %s\n", e->copy);
    if (e->left_out)
        st_buf_addf(&out, "  note     %zu files of /etc were too large, and empty in the container\n",
                    e->left_out);
    fwrite(out.data, 1, out.len, stderr);
}

/* ---- for programs ---- */

static void write_refusals(struct st_jw *w, const struct st_tally *t)
{
    st_jw_key(w, "refusals");
    st_jw_array(w);
    for (size_t i = 0; i < t->n && i < 100; i++) {
        const char *key = t->items[i].key, *what = strchr(key, '\t'),
                   *rule = what ? strchr(what + 1, '\t') : NULL;

        if (!rule)
            continue;
        st_jw_object(w);
        st_jw_kint(w, "count", (int64_t)t->items[i].count);
        st_jw_key(w, "outcome");
        st_jw_strn(w, key, (size_t)(what - key));
        st_jw_kstr(w, "rule", rule + 1);
        st_jw_key(w, "what");
        st_jw_strn(w, what + 1, (size_t)(rule - what - 1));
        st_jw_end(w, '}');
    }
    st_jw_end(w, ']');
}

static void show_json(const struct reading *reading, const struct st_run_end *e, const char *file)
{
    const struct st_report *r = reading->report;
    const struct st_tally *t = r->tallies;
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kint(&w, "bytes_sent", (int64_t)r->bytes_sent);
    st_jw_kint(&w, "deleted", (int64_t)used(&t[ST_TALLY_DELETED]));
    st_jw_kint(&w, "duration_ms", (r->last_us - r->first_us) / 1000);
    st_jw_kint(&w, "exit_code", e->code);
    st_jw_kstr(&w, "id", e->id);
    st_jw_kint(&w, "only_recorded", (int64_t)reading->noted);
    st_jw_kint(&w, "peers", (int64_t)used(&t[ST_TALLY_TALKED]));
    st_jw_kint(&w, "programs", (int64_t)used(&t[ST_TALLY_RAN]));
    st_jw_kint(&w, "records", (int64_t)r->verified->records);
    write_refusals(&w, &t[ST_TALLY_REFUSED]);
    st_jw_kint(&w, "refused", (int64_t)(refused(r) - reading->noted));
    st_jw_kbool(&w, "signed", r->verified->signed_seq > 0);
    st_jw_kstr(&w, "trace", file);
    st_jw_kstr(&w, "trace_copy", e->copied ? e->copy : NULL);
    st_jw_kbool(&w, "valid", r->verified->n_issues == 0);
    st_jw_kint(&w, "written", (int64_t)used(&t[ST_TALLY_WRITTEN]));
    st_jw_end(&w, '}');
    st_buf_addc(&out, '\n');
    fwrite(out.data, 1, out.len, stderr);
}

/* ---- all of it ---- */

static bool wants_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDERR_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

static int read_trace(struct st_cli *cli, const char *file, struct reading *reading,
                      struct st_verifier **verifier, struct st_error *err)
{
    st_auto_input in = NULL;
    st_auto_trust trust = {0};
    st_auto_decoder decoder = st_decoder_new();
    struct st_verify_options o = {.on_record = add_record, .ctx = reading, .refuse_older = true};

    reading->decoder = decoder;
    if (st_trust_add_default(&trust, cli, err) < 0 || st_input_open(file, &in, err) < 0)
        return -err->errnum;
    o.keys = trust.keys;
    o.n_keys = trust.n;
    *verifier = st_verifier_new(&o);
    if (st_verify_input(*verifier, in, file, err) < 0)
        return -err->errnum;
    st_report_finish(reading->report, st_verifier_end(*verifier));
    return 0;
}

int st_run_summary(struct st_cli *cli, const struct st_verb *self, const struct st_config *config,
                   const struct st_run_end *end)
{
    st_auto_free char *file = st_xasprintf("%s/%s.jsonl", config->log_dir, end->id);
    st_auto_verifier verifier = NULL;
    struct st_report report;
    struct reading reading = {.report = &report};
    struct st_error err = {0};
    int code = end->code;

    st_report_init(&report, file, SHOWN);
    if (read_trace(cli, file, &reading, &verifier, &err) < 0) {
        st_cli_error(self, "the trace can't be read: %s", err.msg);
        code = ST_RUN_EXIT_FAILED;
    } else {
        if (cli->json)
            show_json(&reading, end, file);
        else
            show_text(&reading, end, file, wants_color());
        if (report.verified->n_issues)
            code = ST_RUN_EXIT_FAILED;
    }
    st_report_free(&report);
    return code;
}
