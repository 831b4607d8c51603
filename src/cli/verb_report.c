/* sandtrace report: what a trace says, added up for a person. */
#include "base/cleanup.h"
#include "base/io.h"
#include "cli/input.h"
#include "cli/report.h"
#include "cli/trust.h"
#include "cli/verbs.h"
#include "cli/verify_input.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_FORMAT, OPT_OUTPUT, OPT_TOP, OPT_KEY };

static const struct st_opt options[] = {
    {"format", 0, "text|markdown|html", "what to write (default: text)"},
    {"output", 'o', "FILE", "where to; .html and .md choose the format"},
    {"top", 0, "N", "rows of each table (default: 20)"},
    {"key", 0, "PUB", "trust this public key only"},
    ST_OPT_END,
};

static const char *const formats[] = {"text", "markdown", "html"};

struct request {
    struct st_cli *cli;
    const struct st_verb *self;
    struct st_trust trust;
    const char *output;
    int format; /* -1: not said */
    size_t top;
    bool own_keys;
};

struct reading {
    struct st_report *report;
    struct st_decoder *decoder;
};

static void add_record(void *ctx, const struct st_frame *f, const struct st_line *line)
{
    struct reading *r = ctx;
    struct st_decoded d;
    struct st_error err;

    (void)line;
    if (st_decode(r->decoder, f, &d, &err) < 0)
        r->report->unreadable++;
    else
        st_report_add(r->report, &d);
}

static int take_option(struct request *r, int index, const char *value)
{
    struct st_error err = {0};
    char *end;

    switch (index) {
    case OPT_FORMAT:
        for (int i = 0; i < 3; i++)
            if (strcmp(formats[i], value) == 0) {
                r->format = i;
                return ST_EXIT_OK;
            }
        return st_cli_usage(r->self, "--format: '%s' is none of text, markdown, html", value);
    case OPT_OUTPUT: r->output = value; return ST_EXIT_OK;
    case OPT_TOP:
        r->top = strtoul(value, &end, 10);
        if (*end || end == value || r->top == 0 || r->top > 100000)
            return st_cli_usage(r->self, "--top: '%s' is no number from 1 to 100000", value);
        return ST_EXIT_OK;
    default:
        r->own_keys = true;
        if (st_trust_add(&r->trust, value, &err) < 0)
            return st_cli_error(r->self, "--key: %s", err.msg);
        return ST_EXIT_OK;
    }
}

static bool ends_in(const char *s, const char *ending)
{
    size_t len = strlen(s), n = strlen(ending);

    return len >= n && strcmp(s + len - n, ending) == 0;
}

static int write_out(const struct request *r, const struct st_buf *text)
{
    st_auto_fd fd = -1;
    int rc;

    if (!r->output) {
        fwrite(text->data, 1, text->len, stdout);
        return ST_EXIT_OK;
    }
    fd = open(r->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644);
    rc = fd < 0 ? -errno : st_write_all(fd, text->data, text->len);
    return rc < 0 ? st_cli_error(r->self, "%s: %s", r->output, strerror(-rc)) : ST_EXIT_OK;
}

static int write_report(const struct request *r, const struct st_report *report)
{
    st_auto_buf text = ST_BUF_INIT;
    int format = r->format;

    if (format < 0)
        format = !r->output ? 0 : ends_in(r->output, ".html") ? 2 : ends_in(r->output, ".md") ? 1 : 0;
    if (r->cli->json)
        st_report_json(report, &text);
    else if (format == 2)
        st_report_html(report, &text);
    else if (format == 1)
        st_report_markdown(report, &text);
    else
        st_report_text(report, r->cli->color && !r->output, &text);
    return write_out(r, &text);
}

static int report_on(const struct request *r, const char *file)
{
    st_auto_input in = NULL;
    st_auto_decoder decoder = st_decoder_new();
    st_auto_verifier verifier = NULL;
    struct st_report report;
    struct reading reading = {&report, decoder};
    struct st_verify_options o = {
        .keys = r->trust.keys, .n_keys = r->trust.n, .on_record = add_record, .ctx = &reading};
    struct st_error err = {0};
    int code;

    if (st_input_open(file, &in, &err) < 0)
        return st_cli_error(r->self, "%s", err.msg);
    o.refuse_older = st_trust_wants_signature(&r->trust, r->own_keys, r->cli, file);
    o.writing = st_input_being_written(in);
    st_report_init(&report, st_input_name(in, st_input_files(in) - 1), r->top);
    verifier = st_verifier_new(&o);
    if (st_verify_input(verifier, in, file, &err) < 0) {
        code = st_cli_error(r->self, "%s", err.msg);
    } else {
        st_report_finish(&report, st_verifier_end(verifier));
        code = write_report(r, &report);
        if (code == ST_EXIT_OK && report.verified->n_issues)
            code = ST_EXIT_FAILED;
    }
    st_report_free(&report);
    return code;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct request r = {.cli = cli, .self = self, .format = -1, .top = 20};
    struct st_error err = {0};
    struct st_opts opts;
    char **args;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0 && code == ST_EXIT_OK)
        code = take_option(&r, index, opts.value);
    if (index == ST_OPTS_END && code == ST_EXIT_OK) {
        if (st_opts_args(&opts, &args) != 1)
            code = st_cli_usage(self, "one FILE is wanted; - is standard input");
        else if (!r.own_keys && st_trust_add_default(&r.trust, cli, &err) < 0)
            code = st_cli_error(self, "%s", err.msg);
        else
            code = report_on(&r, args[0]);
    }
    st_trust_free(&r.trust);
    return code;
}

const struct st_verb st_verb_report = {
    .name = "report",
    .args = "FILE",
    .summary = "add a trace up: who talked to whom, what was written and refused",
    .example = "sandtrace report /var/log/sandtrace/ID.jsonl -o report.html",
    .opts = options,
    .run = run,
};
