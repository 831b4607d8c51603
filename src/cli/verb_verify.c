/* sandtrace verify: is this trace what its writer wrote, and did it keep to a policy? */
#include "audit/verify.h"
#include "base/cleanup.h"
#include "cli/input.h"
#include "cli/rejudge.h"
#include "cli/trust.h"
#include "cli/verbs.h"
#include "cli/verify_input.h"
#include "cli/verify_print.h"

#include <stdio.h>

enum { OPT_AGAINST, OPT_ATTEMPTS, OPT_KEY, OPT_ALLOW_UNSIGNED, OPT_LIVE, OPT_HEAD };

static const struct st_opt options[] = {
    {"against", 0, "POLICY", "what this policy forbids must not have happened"},
    {"attempts", 0, NULL, "with --against: what was refused counts as well"},
    {"key", 0, "PUB", "trust this public key only (more than once: these keys)"},
    {"allow-unsigned", 0, NULL, "take checkpoints without signature though keys are known"},
    {"live", 0, NULL, "it may be running: there need be no final checkpoint"},
    {"head", 0, "HASH", "it must hold the record with this hash (sha256:…)"},
    ST_OPT_END,
};

struct request {
    struct st_cli *cli;
    const struct st_verb *self;
    struct st_trust trust;
    const char *against, *head;
    bool attempts, allow_unsigned, live, own_keys;
};

/* One trace on its way through. */
struct check {
    const struct request *request;
    struct st_rejudge *rejudge; /* NULL: no policy was asked for */
    struct st_decoder *decoder;
    struct st_compliance compliance;
    bool head_seen;
};

static void look_at_record(void *ctx, const struct st_frame *f, const struct st_line *line)
{
    struct check *c = ctx;
    const char *head = c->request->head;
    struct st_decoded d;
    struct st_verdict v;
    struct st_error err;

    (void)line;
    if (head && f->record_hash.len == strlen(head) && memcmp(head, f->record_hash.p, f->record_hash.len) == 0)
        c->head_seen = true;
    if (!c->rejudge)
        return;
    if (st_decode(c->decoder, f, &d, &err) < 0) {
        st_compliance_unreadable(&c->compliance, f->seq, err.msg);
        return;
    }
    st_rejudge_event(c->rejudge, &d, &v);
    c->compliance.events++;
    if (v.result == ST_ALLOW)
        return;
    if (st_was_refused(&d) && !c->request->attempts)
        c->compliance.refused++;
    else
        st_compliance_add(&c->compliance, &d, &v);
}

static int verify_one(const struct request *r, const char *file)
{
    st_auto_input in = NULL;
    st_auto_rejudge rejudge = NULL;
    st_auto_decoder decoder = st_decoder_new();
    st_auto_verifier verifier = NULL;
    struct check check = {.request = r, .decoder = decoder};
    struct st_verify_options o = {.keys = r->trust.keys,
                                  .n_keys = r->trust.n,
                                  .allow_unsigned = r->allow_unsigned,
                                  .running = r->live,
                                  .on_record = look_at_record,
                                  .ctx = &check};
    struct st_error err = {0};
    int code;

    if (r->against) {
        check.rejudge = rejudge = st_rejudge_new(r->cli, r->self, r->against);
        if (!rejudge)
            return ST_EXIT_USAGE;
    }
    if (st_input_open(file, &in, &err) < 0)
        return st_cli_error(r->self, "%s", err.msg);
    o.refuse_older = !r->allow_unsigned && st_trust_wants_signature(&r->trust, r->own_keys, r->cli, file);
    o.writing = st_input_being_written(in);
    verifier = st_verifier_new(&o);
    if (st_verify_input(verifier, in, file, &err) < 0)
        return st_cli_error(r->self, "%s", err.msg);
    check.compliance.policy = rejudge ? st_rejudge_name(rejudge) : NULL;
    check.compliance.head_missing = r->head && !check.head_seen;
    code = st_verify_print(r->cli, in, st_verifier_end(verifier), &check.compliance, o.writing, r->trust.n);
    st_compliance_free(&check.compliance);
    return code;
}

static int take_option(struct request *r, int index, const char *value)
{
    struct st_error err = {0};

    switch (index) {
    case OPT_AGAINST: r->against = value; break;
    case OPT_ATTEMPTS: r->attempts = true; break;
    case OPT_ALLOW_UNSIGNED: r->allow_unsigned = true; break;
    case OPT_LIVE: r->live = true; break;
    case OPT_HEAD: r->head = value; break;
    default:
        r->own_keys = true;
        if (st_trust_add(&r->trust, value, &err) < 0)
            return st_cli_error(r->self, "--key: %s", err.msg);
    }
    return ST_EXIT_OK;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct request r = {.cli = cli, .self = self};
    struct st_error err = {0};
    struct st_opts opts;
    char **args;
    int index, n, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0 && code == ST_EXIT_OK)
        code = take_option(&r, index, opts.value);
    n = st_opts_args(&opts, &args);
    if (index == ST_OPTS_END && n == 0)
        code = st_cli_usage(self, "no FILE; - is standard input");
    else if (index == ST_OPTS_END && code == ST_EXIT_OK && !r.own_keys &&
             st_trust_add_default(&r.trust, cli, &err) < 0)
        code = st_cli_error(self, "%s", err.msg);
    if (index == ST_OPTS_END && code == ST_EXIT_OK) {
        bool broken = false, unread = false;

        for (int i = 0; i < n; i++) {
            int one = verify_one(&r, args[i]);

            broken |= one == ST_EXIT_FAILED;
            unread |= one == ST_EXIT_USAGE;
        }
        code = broken ? ST_EXIT_FAILED : unread ? ST_EXIT_USAGE : ST_EXIT_OK;
    }
    st_trust_free(&r.trust);
    return code;
}

const struct st_verb st_verb_verify = {
    .name = "verify",
    .args = "FILE…",
    .summary = "check that a trace is whole, untouched, signed, keeps to a policy",
    .example = "sandtrace verify /var/log/sandtrace/ID.jsonl --against agent-default",
    .opts = options,
    .run = run,
};
