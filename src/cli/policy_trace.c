/* policy_trace: the events of a trace, asked anew: `policy test --trace` and `policy diff --trace`. */
#include "cli/verb_policy.h"

#include "base/json_write.h"
#include "cli/input.h"
#include "cli/rejudge.h"
#include "cli/show.h"

#include <stdio.h>

struct asked {
    struct policy_cmd *c;
    const struct st_policy *policy; /* of a */
    struct st_rejudge *a, *b;       /* b: NULL where there is only one policy */
    struct st_buf out;
    uint64_t events, told, unreadable;
    struct st_progress progress;
};

/* What one policy says of an event; why: NULL where it has nothing to say, or is not asked why. */
struct answer {
    struct st_verdict verdict;
    const struct st_explanation *why;
};

static void put_word(struct st_jw *w, const char *key, struct st_str s)
{
    st_jw_key(w, key);
    if (s.p)
        st_jw_strn(w, s.p, s.len);
    else
        st_jw_null(w);
}

static void put_json_answer(const struct asked *k, struct st_jw *w, const char *key, const struct answer *a,
                            const struct st_event *e)
{
    const struct st_verdict *v = &a->verdict;

    st_jw_key(w, key);
    st_jw_object(w);
    if (a->why)
        st_json_rule(w, k->policy, a->why);
    put_word(w, "reason", v->reason);
    st_jw_kstr(w, "response", st_response_name(v->response));
    st_jw_kstr(w, "result", st_result_name(v->result));
    put_word(w, "rule", v->rule);
    st_jw_kstr(w, "severity", st_severity_name(v->severity));
    if (a->why)
        st_json_tried(w, k->policy, a->why, e);
    st_jw_end(w, '}');
}

static void tell_json(struct asked *k, const struct st_decoded *d, const struct answer *a,
                      const struct answer *b)
{
    struct st_jw w;

    st_jw_init(&w, &k->out);
    st_jw_object(&w);
    put_json_answer(k, &w, "a", a, &d->ev);
    if (b)
        put_json_answer(k, &w, "b", b, &d->ev);
    put_word(&w, "event_id", d->event_id);
    st_jw_kstr(&w, "recorded", d->has_verdict ? st_result_name(d->verdict.result) : NULL);
    st_jw_kint(&w, "seq", (int64_t)d->seq);
    st_jw_end(&w, '}');
    st_buf_addc(&k->out, '\n');
}

/* The response where there is one: it may be all that differs. */
static void add_side(struct asked *k, char sign, const struct st_verdict *v)
{
    st_buf_addf(&k->out, "  %c %s", sign, st_result_name(v->result));
    if (v->result != ST_ALLOW)
        st_buf_addf(&k->out, ", response %s", st_response_name(v->response));
    st_buf_adds(&k->out, ": ");
    st_show_text(&k->out, v->reason);
    st_buf_addc(&k->out, '\n');
}

static void tell_text(struct asked *k, const struct st_decoded *d, const struct answer *a,
                      const struct answer *b)
{
    st_show_line(&k->out, d, b ? &b->verdict : &a->verdict, k->c->cli->color);
    if (!b) {
        st_buf_adds(&k->out, "  ");
        st_show_text(&k->out, a->verdict.reason);
        st_buf_addc(&k->out, '\n');
        return;
    }
    add_side(k, '-', &a->verdict);
    add_side(k, '+', &b->verdict);
}

/* With one policy what it refuses is worth telling; with two, what they decide differently. */
static bool is_told(const struct asked *k, const struct st_verdict *a, const struct st_verdict *b)
{
    if (!b)
        return k->c->all || a->result != ST_ALLOW;
    return a->result != b->result || a->response != b->response;
}

static void ask_both(struct asked *k, const struct st_decoded *d)
{
    struct answer a = {0}, b = {0};

    st_rejudge_event(k->a, d, &a.verdict);
    st_rejudge_event(k->b, d, &b.verdict);
    if (!is_told(k, &a.verdict, &b.verdict))
        return;
    k->told++;
    (k->c->cli->json ? tell_json : tell_text)(k, d, &a, &b);
    st_progress_end(&k->progress);
    fwrite(k->out.data, 1, k->out.len, stdout);
}

static void ask_one(struct asked *k, const struct st_decoded *d)
{
    struct st_explanation x = {0};
    struct answer a = {0};

    if (st_rejudge_explain(k->a, d, &a.verdict, &x))
        a.why = &x;
    k->told += a.verdict.result != ST_ALLOW;
    if (is_told(k, &a.verdict, NULL)) {
        (k->c->cli->json ? tell_json : tell_text)(k, d, &a, NULL);
        st_progress_end(&k->progress);
        fwrite(k->out.data, 1, k->out.len, stdout);
        if (a.why && !k->c->cli->json)
            st_put_why(k->c, k->policy, a.why, &d->ev);
    }
    st_explanation_free(&x);
}

static void ask(struct asked *k, const struct st_decoded *d)
{
    k->events++;
    st_buf_clear(&k->out);
    (k->b ? ask_both : ask_one)(k, d);
}

static int ask_all(struct asked *k, struct st_input *in, struct st_error *err)
{
    st_auto_decoder decoder = st_decoder_new();
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_line line;
    int rc;

    st_progress_begin(&k->progress, k->c->trace);
    while ((rc = st_input_line(in, &line, err)) > 0) {
        struct st_decoded d;
        struct st_frame f;
        const char *why;

        if (line.piece || line.more || st_frame_read(line.text, &scratch, &f, &why) != ST_FRAME_OK ||
            st_decode(decoder, &f, &d, NULL) < 0)
            k->unreadable++;
        else
            ask(k, &d);
        st_input_show_progress(in, &k->progress, k->events);
    }
    st_progress_end(&k->progress);
    return rc;
}

static int run(struct policy_cmd *c, struct st_policy *first, struct st_policy *second)
{
    st_auto_rejudge a = st_rejudge_of(first);
    st_auto_rejudge b = second ? st_rejudge_of(second) : NULL;
    struct asked k = {.c = c, .policy = first, .a = a, .b = b};
    st_auto_input in = NULL;
    struct st_error err = {0};
    int rc = st_input_open(c->trace, &in, &err);

    if (rc == 0)
        rc = ask_all(&k, in, &err);
    st_buf_free(&k.out);
    if (rc < 0)
        return st_cli_error(c->verb, "%s", err.msg);
    if (!c->cli->json)
        printf("%llu of %llu events %s\n", (unsigned long long)k.told, (unsigned long long)k.events,
               second ? "decided differently" : "refused");
    if (k.unreadable)
        return st_cli_error(c->verb,
                            "%llu lines could not be read; sandtrace verify says what is wrong with them",
                            (unsigned long long)k.unreadable);
    return k.told ? ST_EXIT_FAILED : ST_EXIT_OK;
}

int st_policy_test_trace(struct policy_cmd *c, struct st_policy *p)
{
    return run(c, p, NULL);
}

int st_policy_diff_trace(struct policy_cmd *c, struct st_policy *a, struct st_policy *b)
{
    return run(c, a, b);
}
