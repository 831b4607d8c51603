/* sandtrace stream: the events of a trace, one a line, as many of them as are wanted. */
#include "audit/verify.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/filter.h"
#include "cli/follow.h"
#include "cli/input.h"
#include "cli/rejudge.h"
#include "cli/show.h"
#include "cli/verbs.h"

#include <stdio.h>

enum {
    OPT_TYPE,
    OPT_VERDICT,
    OPT_TIER,
    OPT_PATH,
    OPT_HOST,
    OPT_SINCE,
    OPT_UNTIL,
    OPT_FOLLOW,
    OPT_POLICY,
    OPT_TEXT
};

static const struct st_opt options[] = {
    {"filter-type", 0, "TYPE,…", "only these types of event"},
    {"filter-verdict", 0, "WORD,…", "allow, deny, anomaly, paused or killed"},
    {"filter-tier", 0, "TIER,…", "only this evidence: kernel, derived, polled"},
    {"filter-path", 0, "GLOB", "only these paths, as in a policy: /etc/**"},
    {"filter-host", 0, "PATTERN", "only these: *.example.com, 10.0.0.0/8"},
    {"since", 0, "TIME", "not before: 2026-03-26T12:00:00Z, or 10m (ago)"},
    {"until", 0, "TIME", "not after"},
    {"follow", 'f', NULL, "wait for more, also over a rotation"},
    {"policy", 0, "POLICY", "show what this policy would have decided"},
    {"text", 0, NULL, "lines for people, also into a pipe"},
    ST_OPT_END,
};

struct stream {
    struct st_cli *cli;
    const struct st_verb *self;
    struct st_filter filter;
    struct st_rejudge *rejudge;
    struct st_decoder *decoder;
    struct st_buf scratch, out;
    const char *policy;
    bool follow, text;
    uint64_t unreadable;
    struct st_progress progress;
    uint64_t records; /* read so far */
};

static int take_option(struct stream *s, int index, const char *value)
{
    struct st_error err = {0};
    int rc = 0;

    switch (index) {
    case OPT_TYPE: rc = st_filter_types(&s->filter, value, &err); break;
    case OPT_VERDICT: rc = st_filter_outcomes(&s->filter, value, &err); break;
    case OPT_TIER: rc = st_filter_tiers(&s->filter, value, &err); break;
    case OPT_PATH: rc = st_filter_path(&s->filter, value, &err); break;
    case OPT_HOST: rc = st_filter_host(&s->filter, value, &err); break;
    case OPT_SINCE: rc = st_filter_time(&s->filter.since_us, value, &err); break;
    case OPT_UNTIL: rc = st_filter_time(&s->filter.until_us, value, &err); break;
    case OPT_FOLLOW: s->follow = true; break;
    case OPT_TEXT: s->text = true; break;
    default: s->policy = value; break;
    }
    return rc < 0 ? st_cli_usage(s->self, "--%s: %s", options[index].name, err.msg) : ST_EXIT_OK;
}

static void put_verdict(struct st_jw *w, const struct st_verdict *v)
{
    st_jw_object(w);
    st_jw_key(w, "policy_rule");
    if (v->rule.p)
        st_jw_strn(w, v->rule.p, v->rule.len);
    else
        st_jw_null(w);
    st_jw_kstr(w, "policy_sha256", v->policy_sha256);
    if (v->reason.p) {
        st_jw_key(w, "reason");
        st_jw_strn(w, v->reason.p, v->reason.len);
    }
    st_jw_kstr(w, "result", st_result_name(v->result));
    st_jw_kstr(w, "severity", st_severity_name(v->severity));
    st_jw_end(w, '}');
}

/* The record as it stands; with --policy beside what that says. */
static void print_json(struct stream *s, const struct st_line *line, const struct st_decoded *d,
                       const struct st_verdict *v)
{
    struct st_jw w;

    if (!s->rejudge) {
        fwrite(line->text.p, 1, line->text.len, stdout);
        putchar('\n');
        return;
    }
    st_jw_init(&w, &s->out);
    st_jw_object(&w);
    st_jw_kbool(&w, "changed", v->result != d->verdict.result);
    st_jw_key(&w, "record");
    st_jw_raw(&w, line->text.p, line->text.len);
    st_jw_key(&w, "verdict");
    put_verdict(&w, v);
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&s->out));
}

static void print_line(struct stream *s, const struct st_line *line)
{
    struct st_verdict verdict;
    struct st_decoded d;
    struct st_frame f;
    struct st_error err;
    const char *why;

    if (line->piece || line->more || st_frame_read(line->text, &s->scratch, &f, &why) != ST_FRAME_OK ||
        st_decode(s->decoder, &f, &d, &err) < 0) {
        s->unreadable++;
        return;
    }
    verdict = d.verdict;
    if (s->rejudge) {
        st_rejudge_event(s->rejudge, &d, &verdict);
        if (verdict.result != ST_ALLOW && verdict.result == d.verdict.result)
            verdict.action = d.verdict.action;
    }
    if (!st_filter_wants(&s->filter, &d, &verdict))
        return;
    st_progress_end(&s->progress);
    st_buf_clear(&s->out);
    if (s->text) {
        st_show_line(&s->out, &d, &verdict, s->cli->color);
        fputs(st_buf_cstr(&s->out), stdout);
    } else {
        print_json(s, line, &d, &verdict);
    }
}

/* A last line that is not ended yet waits for its end while we follow. */
static int read_on(struct stream *s, struct st_input *in, struct st_error *err)
{
    struct st_line line;
    int rc;

    while ((rc = st_input_line(in, &line, err)) > 0) {
        if (line.ended || !s->follow)
            print_line(s, &line);
        st_input_show_progress(in, &s->progress, ++s->records);
    }
    st_progress_end(&s->progress);
    return rc;
}

static int stream_file(struct stream *s, const char *file, struct st_error *err)
{
    st_auto_input in = NULL;
    st_auto_follow follow = {-1};
    int rc = st_input_open(file, &in, err);

    if (rc < 0)
        return rc;
    s->follow = s->follow && st_input_can_grow(in);
    st_progress_begin(&s->progress, file);
    if (s->follow && st_follow_begin(&follow, file, err) < 0)
        return -err->errnum;
    for (;;) {
        rc = read_on(s, in, err);
        if (rc < 0 || !s->follow || ferror(stdout))
            return rc;
        fflush(stdout);
        rc = st_follow_wait(&follow, err);
        if (rc < 0)
            return rc;
    }
}

static int run_stream(struct stream *s, const char *file)
{
    struct st_error err = {0};

    s->text = !s->cli->json && (s->text || isatty(STDOUT_FILENO));
    if (s->policy) {
        s->rejudge = st_rejudge_new(s->cli, s->self, s->policy);
        if (!s->rejudge)
            return ST_EXIT_USAGE;
    }
    if (stream_file(s, file, &err) < 0)
        return st_cli_error(s->self, "%s", err.msg);
    if (s->unreadable)
        fprintf(stderr, "sandtrace stream: %llu lines could not be read: sandtrace verify tells more\n",
                (unsigned long long)s->unreadable);
    return s->unreadable ? ST_EXIT_FAILED : ST_EXIT_OK;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct stream s = {.cli = cli, .self = self, .decoder = st_decoder_new()};
    struct st_opts opts;
    char **args;
    int index, code = ST_EXIT_OK;

    st_filter_init(&s.filter);
    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0 && code == ST_EXIT_OK)
        code = take_option(&s, index, opts.value);
    if (index == ST_OPTS_END && code == ST_EXIT_OK) {
        if (st_opts_args(&opts, &args) != 1)
            code = st_cli_usage(self, "one FILE is wanted; - is standard input");
        else
            code = run_stream(&s, args[0]);
    }
    st_rejudge_free(s.rejudge);
    st_filter_free(&s.filter);
    st_decoder_free(s.decoder);
    st_buf_free(&s.scratch);
    st_buf_free(&s.out);
    return code;
}

const struct st_verb st_verb_stream = {
    .name = "stream",
    .args = "FILE",
    .summary = "show the events of a trace, filtered, and follow it as it grows",
    .example = "sandtrace stream /var/log/sandtrace/ID.jsonl --filter-verdict deny --follow",
    .opts = options,
    .run = run,
};
