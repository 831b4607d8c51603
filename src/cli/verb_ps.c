/* sandtrace ps: which containers are being watched, and how each of them is. A monitor is alive where it
 * answers or holds its lock, whatever the files say. */
#include "base/cleanup.h"
#include "base/printable.h"
#include "cli/pause_view.h"
#include "cli/request.h"
#include "cli/term.h"
#include "cli/verbs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

static const struct st_opt options[] = {
    {"no-trunc", 0, NULL, "do not cut IDs short"},
    ST_OPT_END,
};

struct row {
    const struct st_box *box;
    struct st_answer state; /* state.json */
    struct st_answer live;  /* what its monitor says */
    bool answers;
    const char *status;
    int64_t pid, pending, uptime_ms;
};

static bool holds_lock(const struct st_box *box)
{
    st_auto_fd fd = openat(box->dirfd, "monitor.pid", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static const char *word(const struct st_json_node *root, const char *key)
{
    const char *s = st_json_str(st_json_get(root, key), NULL);

    return s ? s : "-";
}

/* false: nothing to show: it has ended between listing and looking, or is not there yet. */
static bool read_row(const struct st_box *box, struct row *out)
{
    static const char request[] = "{\"request\":\"status\"}";
    struct st_error err = {0};

    bool described;

    *out = (struct row){.box = box, .status = "lost"};
    described = st_box_state(box, &out->state);
    if (!described && box->dirfd >= 0 && faccessat(box->dirfd, ".", F_OK, 0) < 0)
        return false;
    out->answers = st_ask(box, request, sizeof(request) - 1, &out->live, &err) == 0;
    /* A monitor that waits for its container to be made. */
    if (!described && !out->answers && holds_lock(box))
        return false;
    if (out->answers)
        out->status = word(out->live.root, "status");
    else if (err.errnum == EACCES)
        out->status = "closed to you";
    else if (holds_lock(box))
        out->status = "no answer";
    st_json_int(st_json_get(out->answers ? out->live.root : out->state.root, "pid"), &out->pid);
    st_json_int(st_json_get(out->live.root, "pending"), &out->pending);
    st_json_int(st_json_get(out->live.root, "uptime_ms"), &out->uptime_ms);
    return true;
}

static void free_row(struct row *r)
{
    st_answer_free(&r->state);
    st_answer_free(&r->live);
}

static void print_json(const struct row *r)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;
    const struct st_json_node *state = r->state.root;

    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kstr(&w, "agent_id", st_json_str(st_json_get(state, "agent_id"), NULL));
    st_jw_kbool(&w, "frozen", st_json_true(st_json_get(r->live.root, "frozen")));
    st_jw_kstr(&w, "id", r->box->id);
    st_jw_kint(&w, "pending", r->pending);
    st_jw_kint(&w, "pid", r->pid);
    st_jw_kstr(&w, "policy", st_json_str(st_json_get(state, "policy"), NULL));
    st_jw_kstr(&w, "policy_sha256",
               st_json_str(st_json_get(r->answers ? r->live.root : state, "policy_sha256"), NULL));
    st_jw_kstr(&w, "status", r->status);
    st_jw_kstr(&w, "trace", st_json_str(st_json_get(state, "trace"), NULL));
    st_jw_kstr(&w, "trace_id", st_json_str(st_json_get(state, "trace_id"), NULL));
    st_jw_kint(&w, "uptime_ms", r->uptime_ms);
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

static void print_row(const struct row *r, bool whole, bool color)
{
    st_auto_buf age = ST_BUF_INIT, policy = ST_BUF_INIT, trace = ST_BUF_INIT;
    const char *p = word(r->state.root, "policy"), *t = word(r->state.root, "trace");
    enum st_term_style style = r->pending || !r->answers ? ST_TERM_ALARM : ST_TERM_GOOD;

    if (r->answers)
        st_show_duration(&age, r->uptime_ms);
    st_add_printable(&policy, p, strlen(p));
    st_add_printable(&trace, t, strlen(t));
    printf("%-*.*s  %8lld  %-16s  %s%-10s%s  %7lld  %-9s  %s\n", whole ? 64 : 16, whole ? 1024 : 16,
           r->box->id, (long long)r->pid, st_buf_cstr(&policy), st_term_on(color, style), r->status,
           st_term_off(color), (long long)r->pending, st_buf_cstr(&age), st_buf_cstr(&trace));
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    st_auto_request r = {0};
    struct st_opts opts;
    bool whole = false;
    char **args;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        whole = true;
    if (index == ST_OPTS_EXIT)
        return code;
    if (st_opts_args(&opts, &args) > 0)
        return st_cli_usage(self, "unexpected argument '%s'", args[0]);
    code = st_request_open(&r, cli, self);
    if (code != ST_EXIT_OK)
        return code;
    if (!r.json)
        printf("%-*s  %8s  %-16s  %-10s  %7s  %-9s  %s\n", whole ? 64 : 16, "CONTAINER", "PID", "POLICY",
               "STATUS", "PENDING", "AGE", "TRACE");
    for (size_t i = 0; i < r.boxes.n; i++) {
        struct row row;

        if (read_row(&r.boxes.list[i], &row))
            r.json ? print_json(&row) : print_row(&row, whole, cli->color);
        free_row(&row);
    }
    return ST_EXIT_OK;
}

const struct st_verb st_verb_ps = {
    .name = "ps",
    .summary = "list the containers that are being watched",
    .example = "sandtrace ps --json",
    .opts = options,
    .run = run,
};
