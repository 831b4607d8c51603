/* decide: see decide.h. */
#include "cli/decide.h"

#include "audit/frame.h"
#include "base/cleanup.h"
#include "cli/request.h"
#include "cli/show.h"

#include <stdio.h>

/* "read /etc/shadow by cat[7]", of the event that the pause is about. */
static void describe(const struct st_found_pause *f, struct st_buf *out)
{
    const struct st_json_node *event = st_json_get(f->pause, "event");
    st_auto_decoder decoder = st_decoder_new();
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_decoded d;
    struct st_frame frame;
    const char *why;
    size_t start, end;

    if (!st_json_is(event, ST_JSON_OBJECT))
        return;
    st_json_span(event, &start, &end);
    if (st_frame_read((struct st_str){.p = f->answer.text.data + start, .len = end - start}, &scratch, &frame,
                      &why) != ST_FRAME_OK ||
        st_decode(decoder, &frame, &d, NULL) < 0)
        return;
    st_buf_adds(out, ": ");
    st_show_subject(out, &d);
    st_buf_adds(out, " by ");
    st_show_actor(out, &d);
}

static void report(const struct st_request *r, const struct st_decide *d, const struct st_found_pause *f,
                   const struct st_answer *answer)
{
    st_auto_buf out = ST_BUF_INIT;

    if (r->json) {
        st_json_with(&out, st_buf_cstr(&answer->text), answer->root, "container", f->box->id);
    } else {
        st_buf_addf(&out, "%s %s",
                    d->request[0] == 'd' ? "denied"
                    : d->always          ? "approved for this run"
                                         : "approved",
                    f->id);
        describe(f, &out);
        st_buf_addf(&out, " in %s", f->box->id);
    }
    puts(st_buf_cstr(&out));
}

static int decide_one(const struct st_request *r, const struct st_decide *d, const char *id)
{
    st_auto_found_pause found = {0};
    st_auto_answer answer = {0};
    st_auto_buf body = ST_BUF_INIT;
    struct st_error err = {0};
    struct st_jw w;

    if (st_request_find_pause(r, id, &found, &err) < 0)
        return st_cli_error(r->verb, "%s", err.msg);
    st_jw_init(&w, &body);
    st_jw_object(&w);
    if (d->always)
        st_jw_kbool(&w, "always", true);
    st_request_members(&w, d->request, found.id, d->reason);
    st_jw_end(&w, '}');
    if (st_ask(found.box, body.data, body.len, &answer, &err) < 0)
        return st_cli_error(r->verb, "%s", err.msg);
    report(r, d, &found, &answer);
    return ST_EXIT_OK;
}

int st_decide(struct st_cli *cli, const struct st_verb *verb, const struct st_decide *d, char **pauses, int n)
{
    st_auto_request r = {0};
    int code;

    if (n == 0)
        return st_cli_usage(verb, "which pause? sandtrace pending lists them");
    code = st_request_open(&r, cli, verb);
    if (code != ST_EXIT_OK)
        return code;
    for (int i = 0; i < n; i++) {
        int one = decide_one(&r, d, pauses[i]);

        code = one > code ? one : code;
    }
    return code;
}
