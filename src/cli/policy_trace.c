/* policy_trace: the events of a trace, asked anew: `policy test --trace` and `policy diff --trace`. */
#include "cli/verb_policy.h"

#include "base/json_write.h"
#include "cli/input.h"
#include "cli/rejudge.h"
#include "cli/show.h"

#include <stdio.h>

struct asked {
    struct policy_cmd *c;
    struct st_rejudge *a, *b; /* b: NULL where there is only one policy */
    struct st_buf out;
    uint64_t events, told, unreadable;
};

static void put_word(struct st_jw *w, const char *key, struct st_str s)
{
    st_jw_key(w, key);
    if (s.p)
        st_jw_strn(w, s.p, s.len);
    else
        st_jw_null(w);
}

static void put_json_verdict(struct st_jw *w, const char *key, const struct st_verdict *v)
{
    st_jw_key(w, key);
    st_jw_object(w);
    put_word(w, "reason", v->reason);
    st_jw_kstr(w, "response", st_response_name(v->response));
    st_jw_kstr(w, "result", st_result_name(v->result));
    put_word(w, "rule", v->rule);
    st_jw_kstr(w, "severity", st_severity_name(v->severity));
    st_jw_end(w, '}');
}

static void tell_json(struct asked *k, const struct st_decoded *d, const struct st_verdict *a,
                      const struct st_verdict *b)
{
    struct st_jw w;

    st_jw_init(&w, &k->out);
    st_jw_object(&w);
    put_json_verdict(&w, "a", a);
    if (b)
        put_json_verdict(&w, "b", b);
    put_word(&w, "event_id", d->event_id);
    st_jw_kstr(&w, "recorded", d->has_verdict ? st_result_name(d->verdict.result) : NULL);
    st_jw_kint(&w, "seq", (int64_t)d->seq);
    st_jw_end(&w, '}');
    st_buf_addc(&k->out, '\n');
}

static void tell_text(struct asked *k, const struct st_decoded *d, const struct st_verdict *a,
                      const struct st_verdict *b)
{
    st_show_line(&k->out, d, b ? b : a, k->c->cli->color);
    if (!b) {
        st_buf_adds(&k->out, "    ");
        st_show_text(&k->out, a->reason);
        st_buf_addc(&k->out, '\n');
        return;
    }
    st_buf_addf(&k->out, "  - %s: ", st_result_name(a->result));
    st_show_text(&k->out, a->reason);
    st_buf_addf(&k->out, "\n  + %s: ", st_result_name(b->result));
    st_show_text(&k->out, b->reason);
    st_buf_addc(&k->out, '\n');
}

/* With one policy what it refuses is worth telling; with two, what they decide differently. */
static bool is_told(const struct asked *k, const struct st_verdict *a, const struct st_verdict *b)
{
    if (!b)
        return k->c->all || a->result != ST_ALLOW;
    return a->result != b->result || a->response != b->response;
}

static void ask(struct asked *k, const struct st_decoded *d)
{
    struct st_verdict a = {0}, b = {0};

    k->events++;
    st_rejudge_event(k->a, d, &a);
    if (k->b)
        st_rejudge_event(k->b, d, &b);
    if (k->b || a.result != ST_ALLOW)
        k->told += is_told(k, &a, k->b ? &b : NULL);
    if (!is_told(k, &a, k->b ? &b : NULL))
        return;
    st_buf_clear(&k->out);
    (k->c->cli->json ? tell_json : tell_text)(k, d, &a, k->b ? &b : NULL);
    fwrite(k->out.data, 1, k->out.len, stdout);
}

static int ask_all(struct asked *k, struct st_input *in, struct st_error *err)
{
    st_auto_decoder decoder = st_decoder_new();
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_line line;
    int rc;

    while ((rc = st_input_line(in, &line, err)) > 0) {
        struct st_decoded d;
        struct st_frame f;
        const char *why;

        if (line.piece || line.more || st_frame_read(line.text, &scratch, &f, &why) != ST_FRAME_OK ||
            st_decode(decoder, &f, &d, NULL) < 0)
            k->unreadable++;
        else
            ask(k, &d);
    }
    return rc;
}

static int run(struct policy_cmd *c, struct st_policy *first, struct st_policy *second)
{
    st_auto_rejudge a = st_rejudge_of(first);
    st_auto_rejudge b = second ? st_rejudge_of(second) : NULL;
    struct asked k = {.c = c, .a = a, .b = b};
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
