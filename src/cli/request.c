/* request: see request.h. */
#include "cli/request.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CANDIDATES 8

int st_request_open(struct st_request *r, struct st_cli *cli, const struct st_verb *verb)
{
    struct st_error err = {0};

    *r = (struct st_request){.cli = cli, .verb = verb, .json = cli->json || !isatty(STDOUT_FILENO)};
    if (st_config_load(cli->config, &r->config, &err) < 0)
        return st_cli_error(verb, "%s", err.msg);
    if (st_boxes_read(r->config->state_dir, &r->boxes, &err) < 0)
        return st_cli_error(verb, "%s%s", err.msg, err.errnum == EACCES ? "; run this as root" : "");
    return ST_EXIT_OK;
}

void st_request_close(struct st_request *r)
{
    st_boxes_free(&r->boxes);
    st_config_freep(&r->config);
}

void st_request_members(struct st_jw *w, const char *request, const char *pause_id, const char *reason)
{
    st_jw_kstr(w, "name", st_login_name());
    st_jw_kstr(w, "pause_id", pause_id);
    st_jw_kstr(w, "reason", reason);
    st_jw_kstr(w, "request", request);
}

/* ---- pauses of the whole host ---- */

void st_found_pause_free(struct st_found_pause *f)
{
    st_answer_free(&f->answer);
    *f = (struct st_found_pause){0};
}

static bool begins(const char *pause_id, const char *given)
{
    size_t len = strlen(given);

    return len && (strncmp(pause_id, given, len) == 0 ||
                   (strncmp(pause_id, "pau_", 4) == 0 && strncmp(pause_id + 4, given, len) == 0));
}

struct search {
    const char *given;
    size_t n;             /* that begin so */
    struct st_buf names;  /* of the first few */
    struct st_error last; /* a monitor that could not be asked */
    size_t unasked;
    struct st_found_pause *out;
};

/* Keeps the answer in which the first match is. */
static void search_box(struct search *s, const struct st_box *box)
{
    static const char request[] = "{\"request\":\"pending\"}";
    st_auto_answer answer = {0};

    if (st_ask(box, request, sizeof(request) - 1, &answer, &s->last) < 0) {
        s->unasked++;
        return;
    }
    st_json_each (pause, st_json_get(answer.root, "pending")) {
        const char *id = st_json_str(st_json_get(pause, "pause_id"), NULL);

        if (!id || !begins(id, s->given))
            continue;
        if (s->n < CANDIDATES)
            st_buf_addf(&s->names, "%s%s (%s)", s->n ? ", " : "", id, box->id);
        if (s->n++)
            continue;
        s->out->box = box;
        s->out->pause = pause;
        snprintf(s->out->id, sizeof(s->out->id), "%.63s", id);
    }
    if (s->out->box == box) {
        s->out->answer = answer;
        answer = (struct st_answer){0};
    }
}

int st_request_find_pause(const struct st_request *r, const char *id, struct st_found_pause *out,
                          struct st_error *err)
{
    struct search s = {.given = id, .out = out};
    st_auto_buf names = ST_BUF_INIT;

    *out = (struct st_found_pause){0};
    for (size_t i = 0; i < r->boxes.n; i++)
        search_box(&s, &r->boxes.list[i]);
    names = s.names;
    if (s.n == 1)
        return 0;
    st_found_pause_free(out);
    if (s.n > 1)
        return st_fail(err, ENOTUNIQ, "'%s' is the beginning of %zu pauses: %s%s; write more of it", id, s.n,
                       st_buf_cstr(&names), s.n > CANDIDATES ? " …" : "");
    if (s.unasked) {
        *err = s.last;
        return -err->errnum;
    }
    return st_fail(err, ENOENT, "no pause that waits begins with '%s'; sandtrace pending lists them", id);
}

/* ---- one container ---- */

int st_request_to_box(const struct st_request *r, const char *id, const struct st_buf *body, const char *done)
{
    st_auto_answer answer = {0};
    struct st_error err = {0};
    const struct st_box *box = st_boxes_find(&r->boxes, id, &err);
    st_auto_buf out = ST_BUF_INIT;

    if (!box)
        return st_cli_error(r->verb, "%s", err.msg);
    if (st_ask(box, body->data, body->len, &answer, &err) < 0)
        return st_cli_error(r->verb, "%s", err.msg);
    if (r->json)
        st_json_with(&out, st_buf_cstr(&answer.text), answer.root, "container", box->id);
    else
        st_buf_addf(&out, "%s %s", done, box->id);
    puts(st_buf_cstr(&out));
    return ST_EXIT_OK;
}

int st_request_run(struct st_cli *cli, const struct st_verb *verb, int argc, char **argv, const char *request,
                   const char *done)
{
    st_auto_request r = {0};
    st_auto_buf body = ST_BUF_INIT;
    const char *flag = NULL, *reason = NULL;
    struct st_opts opts;
    struct st_jw w;
    char **ids;
    int index, n, code = ST_EXIT_OK;

    st_opts_begin(&opts, verb, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0) {
        if (verb->opts[index].arg)
            reason = opts.value;
        else
            flag = verb->opts[index].name;
    }
    if (index == ST_OPTS_EXIT)
        return code;
    n = st_opts_args(&opts, &ids);
    if (n == 0)
        return st_cli_usage(verb, "which container? sandtrace ps lists them");
    code = st_request_open(&r, cli, verb);
    if (code != ST_EXIT_OK)
        return code;
    st_jw_init(&w, &body);
    st_jw_object(&w);
    if (flag)
        st_jw_kbool(&w, flag, true);
    st_request_members(&w, request, NULL, reason);
    st_jw_end(&w, '}');
    for (int i = 0; i < n; i++) {
        int one = st_request_to_box(&r, ids[i], &body, done);

        code = one > code ? one : code;
    }
    return code;
}
