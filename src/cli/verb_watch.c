/* sandtrace watch: live, what the containers of this host do: one event a line, and a pause as a block that
 * can't be overlooked. In a pipe: the records as they stand in the traces. */
#include "audit/frame.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/filter.h"
#include "cli/listener.h"
#include "cli/request.h"
#include "cli/verbs.h"
#include "cli/watch_view.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

enum { ALL, TYPE, VERDICT };

static const struct st_opt options[] = {
    [ALL] = {"all", 'a', NULL, "also permitted uses and checkpoints"},
    [TYPE] = {"filter-type", 0, "TYPE,…", "only events of these types"},
    [VERDICT] = {"filter-verdict", 0, "VERDICT,…", "only allow, deny, anomaly, paused or killed"},
    ST_OPT_END,
};

struct watch {
    struct st_request request;
    struct st_watch_view view;
    struct st_filter filter;
    struct st_decoder *decoder;
    char **ids; /* full; NULL: all containers */
    size_t n_ids;
};

/* ---- who speaks ---- */

/* The container whose monitor this is; by the state that it wrote before it connected. */
static char *container_of(const char *state_dir, pid_t worker)
{
    st_auto_boxes boxes = {0};
    struct st_error err = {0};

    st_boxes_read(state_dir, &boxes, &err);
    for (size_t i = 0; i < boxes.n; i++) {
        st_auto_answer state = {0};
        int64_t pid;

        if (st_box_state(&boxes.list[i], &state) && st_json_int(st_json_get(state.root, "worker"), &pid) &&
            pid == worker)
            return st_xstrdup(boxes.list[i].id);
    }
    return st_xstrdup("?");
}

static void on_joined(void *ctx, struct st_speaker *s)
{
    struct watch *w = ctx;

    s->ctx = container_of(w->request.config->state_dir, s->pid);
}

static void on_left(void *ctx, struct st_speaker *s)
{
    (void)ctx;
    free(s->ctx);
    s->ctx = NULL;
}

static bool is_wanted(const struct watch *w, const char *id)
{
    for (size_t i = 0; i < w->n_ids; i++)
        if (strcmp(w->ids[i], id) == 0)
            return true;
    return w->n_ids == 0;
}

/* ---- what is said ---- */

static void print_line(struct st_str line)
{
    fwrite(line.p, 1, line.len, stdout);
    putchar('\n');
}

/* The record as it stands, or in words. Of pauses a person is told whatever was chosen. */
static void on_record(struct watch *w, const char *container, const struct st_frame *f)
{
    struct st_decoded d;
    bool wanted;

    if (st_decode(w->decoder, f, &d, NULL) < 0)
        return;
    wanted = st_filter_wants(&w->filter, &d, &d.verdict);
    if (!w->request.json)
        st_watch_view_event(&w->view, container, f, &d, wanted);
    else if (wanted)
        print_line(f->line);
}

static void on_line(void *ctx, struct st_speaker *s, struct st_str line)
{
    struct watch *w = ctx;
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_frame f;
    const char *why;

    if (!is_wanted(w, s->ctx))
        return;
    if (st_frame_read(line, &scratch, &f, &why) == ST_FRAME_OK)
        on_record(w, s->ctx, &f);
    else if (w->request.json)
        print_line(line);
    else
        st_watch_view_gap(&w->view, s->ctx, line);
}

/* Where nobody reads any more there is nothing to do. */
static int on_idle(void *ctx)
{
    (void)ctx;
    return fflush(stdout) != 0;
}

/* ---- the command line ---- */

/* Returns ST_OPTS_END, or ST_OPTS_EXIT with the code. */
static int read_options(struct watch *w, struct st_opts *opts, int *code)
{
    struct st_error err = {0};
    int index;

    while ((index = st_opts_next(opts, code)) >= 0) {
        /* What is asked for by name is wanted, permitted or not. */
        w->view.all = true;
        if ((index == TYPE && st_filter_types(&w->filter, opts->value, &err) < 0) ||
            (index == VERDICT && st_filter_outcomes(&w->filter, opts->value, &err) < 0)) {
            *code = st_cli_usage(opts->verb, "--%s: %s", options[index].name, err.msg);
            return ST_OPTS_EXIT;
        }
    }
    return index;
}

static int choose(struct watch *w, char **args, int n)
{
    struct st_error err = {0};

    w->ids = st_xcalloc((size_t)n + 1, sizeof(*w->ids));
    for (int i = 0; i < n; i++) {
        const struct st_box *box = st_boxes_find(&w->request.boxes, args[i], &err);

        if (!box)
            return st_cli_error(w->request.verb, "%s", err.msg);
        w->ids[w->n_ids++] = box->id;
    }
    return ST_EXIT_OK;
}

/* Ctrl-C and its like are the way to end this, and leave no socket behind. */
static int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int listen_to_all(struct watch *w)
{
    static const struct st_listener_calls calls = {on_joined, on_line, on_left, on_idle};
    st_auto_listener l = NULL;
    st_auto_fd stop = open_signals();
    struct st_error err = {0};
    const struct st_config *config = w->request.config;
    gid_t gid;

    if (!config)
        return st_cli_error(w->request.verb, "no configuration");
    if (st_config_control_gid(config, "/etc/group", &gid, &err) < 0 ||
        st_listener_open(config->state_dir, gid == (gid_t)-1 ? -1 : (int64_t)gid, &l, &err) < 0)
        return st_cli_error(w->request.verb, "%s%s", err.msg,
                            err.errnum == EACCES ? "; run this as root or as a member of the control group"
                                                 : "");
    /* What waited before we came would never be seen otherwise. */
    for (size_t i = 0; !w->request.json && i < w->request.boxes.n; i++)
        if (is_wanted(w, w->request.boxes.list[i].id))
            st_watch_view_pending(&w->view, &w->request.boxes.list[i]);
    fflush(stdout);
    if (st_listener_run(l, stop, &calls, w, &err) < 0)
        return st_cli_error(w->request.verb, "%s", err.msg);
    return ST_EXIT_OK;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct watch w = {0};
    struct st_opts opts;
    char **args;
    int n, code = ST_EXIT_OK;

    st_filter_init(&w.filter);
    st_opts_begin(&opts, self, cli, argc, argv);
    if (read_options(&w, &opts, &code) == ST_OPTS_EXIT)
        return code;
    w.decoder = st_decoder_new();
    n = st_opts_args(&opts, &args);
    code = st_request_open(&w.request, cli, self);
    w.view.state_dir = w.request.config ? w.request.config->state_dir : NULL;
    w.view.config = cli->config;
    w.view.color = cli->color;
    if (code == ST_EXIT_OK)
        code = choose(&w, args, n);
    if (code == ST_EXIT_OK)
        code = listen_to_all(&w);
    free(w.ids);
    st_decoder_free(w.decoder);
    st_filter_free(&w.filter);
    st_watch_view_free(&w.view);
    st_request_close(&w.request);
    return code;
}

const struct st_verb st_verb_watch = {
    .name = "watch",
    .args = "[ID…]",
    .summary = "show live what happens, and what waits for a decision",
    .example = "sandtrace watch",
    .opts = options,
    .run = run,
};
