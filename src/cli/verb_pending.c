/* sandtrace pending: what waits for a decision, on the whole host or in some containers. */
#include "base/cleanup.h"
#include "cli/pause_view.h"
#include "cli/request.h"
#include "cli/verbs.h"

#include <stdio.h>

static void show(const struct st_request *r, const struct st_box *box, const struct st_answer *a,
                 const struct st_json_node *pause)
{
    st_auto_buf out = ST_BUF_INIT;

    if (r->json) {
        st_json_with(&out, st_buf_cstr(&a->text), pause, "container", box->id);
        st_buf_addc(&out, '\n');
    } else {
        st_pause_show_pending(&out, box->id, pause, st_buf_cstr(&a->text), r->cli->config, r->cli->color);
    }
    fwrite(out.data, 1, out.len, stdout);
}

/* Returns how many wait, or -1. */
static int show_box(const struct st_request *r, const struct st_box *box)
{
    static const char request[] = "{\"request\":\"pending\"}";
    st_auto_answer answer = {0};
    struct st_error err = {0};
    int n = 0;

    if (st_ask(box, request, sizeof(request) - 1, &answer, &err) < 0) {
        st_cli_error(r->verb, "%s", err.msg);
        return -1;
    }
    st_json_each (pause, st_json_get(answer.root, "pending")) {
        show(r, box, &answer, pause);
        n++;
    }
    return n;
}

static int show_all(const struct st_request *r, char **ids, int n_ids)
{
    struct st_error err = {0};
    int waiting = 0, code = ST_EXIT_OK;

    for (size_t i = 0; i < (n_ids ? (size_t)n_ids : r->boxes.n); i++) {
        const struct st_box *box = n_ids ? st_boxes_find(&r->boxes, ids[i], &err) : &r->boxes.list[i];
        int n = box ? show_box(r, box) : -1;

        if (!box)
            st_cli_error(r->verb, "%s", err.msg);
        if (n < 0)
            code = ST_EXIT_USAGE;
        else
            waiting += n;
    }
    if (!waiting && code == ST_EXIT_OK && !r->json)
        puts("nothing waits");
    return code;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    st_auto_request r = {0};
    struct st_opts opts;
    char **ids;
    int code = ST_EXIT_OK, n;

    st_opts_begin(&opts, self, cli, argc, argv);
    if (st_opts_next(&opts, &code) == ST_OPTS_EXIT)
        return code;
    n = st_opts_args(&opts, &ids);
    code = st_request_open(&r, cli, self);
    return code == ST_EXIT_OK ? show_all(&r, ids, n) : code;
}

const struct st_verb st_verb_pending = {
    .name = "pending",
    .args = "[ID…]",
    .summary = "show what waits for a decision, and how to decide it",
    .example = "sandtrace pending",
    .run = run,
};
