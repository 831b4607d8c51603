/* run_job: see run_job.h. Made in this order: place, guard, tree, container (its monitor watches then),
 * network, our ear at the monitor, start. Any of these fails: the container does not run. */
#include "cli/run_job.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/run_guard.h"
#include "cli/run_net.h"
#include "cli/run_session.h"
#include "cli/run_tree.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

struct run {
    struct st_run_job *job;
    struct st_run_place place;
    struct st_run_runtime runtime;
    struct st_run_term term;
    struct st_run_guard guard;
    struct st_run_net net;
    struct st_run_tree tree;
    struct st_run_pauses pauses;
    struct st_run_session session;
    bool terminal, created;
};

/* ---- streams ---- */

/* ours: where our ends go; theirs: what the container gets. */
struct streams {
    int ours[3], theirs[3];
};

static void close_streams(struct streams *s)
{
    for (int i = 0; i < 3; i++) {
        st_close(&s->ours[i]);
        st_close(&s->theirs[i]);
    }
}

static int make_pipes(struct streams *s, struct st_error *err)
{
    for (int i = 0; i < 3; i++) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
            return st_fail_errno(err, "a pipe");
        s->ours[i] = ends[i == 0];
        s->theirs[i] = ends[i != 0];
        fcntl(s->ours[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

/* Who runs the command owns them: /dev/stdout can be opened, as with what a shell gives it. */
static int give_pipes(const struct streams *s, const struct st_run_who *who, struct st_error *err)
{
    for (int i = 0; i < 3; i++)
        if (fchown(s->theirs[i], who->uid, who->gid) < 0)
            return st_fail_errno(err, "a pipe");
    return 0;
}

/* With a terminal the container has its own, and the pipes are for the runtime alone. */
static void connect_streams(struct run *r, struct streams *s, int master)
{
    struct st_relay *to = r->session.streams;

    r->session.master = master;
    if (master >= 0) {
        fcntl(master, F_SETFL, O_NONBLOCK);
        st_relay_open(&to[0], STDIN_FILENO, master);
        to[0].says_end = !isatty(STDIN_FILENO);
        st_relay_open(&to[1], master, STDOUT_FILENO);
        return;
    }
    st_relay_open(&to[0], STDIN_FILENO, st_steal_fd(&s->ours[0]));
    st_relay_open(&to[1], st_steal_fd(&s->ours[1]), STDOUT_FILENO);
    st_relay_open(&to[2], st_steal_fd(&s->ours[2]), STDERR_FILENO);
    to[0].own_to = to[1].own_from = to[2].own_from = true;
}

/* ---- making ---- */

static int write_bundle(struct run *r, struct st_error *err)
{
    const struct st_run_args *args = r->job->args;
    st_auto_free const char **words = st_xcalloc((size_t)args->n_command + 2, sizeof(*words));
    struct st_run_spec spec = {.id = r->place.id,
                               .rootfs = r->tree.rootfs,
                               .policy = args->policy,
                               .depth = args->depth,
                               .args = words,
                               .env = (const char *const *)r->job->env,
                               .uid = r->job->who->uid,
                               .gid = r->job->who->gid,
                               .umask = r->job->umask,
                               .terminal = r->terminal,
                               .network = args->network,
                               .mounts = r->tree.mounts,
                               .n_mounts = r->tree.n_mounts};
    st_auto_buf text = ST_BUF_INIT;
    st_auto_fd dir = open(r->runtime.bundle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return st_fail_errno(err, "%s", r->runtime.bundle);
    words[0] = ST_RUN_INIT;
    for (int i = 0; i < args->n_command; i++)
        words[i + 1] = args->command[i];
    st_run_term_size(&r->term, &spec.rows, &spec.columns);
    st_run_write_spec(&spec, &text);
    return st_replace_file_at(dir, "config.json", text.data, text.len, 0600, false, err);
}

static int make_place(struct run *r, struct st_error *err)
{
    const struct st_run_job *job = r->job;
    st_auto_free char *hook = st_xstrdup(job->config->hook);
    st_auto_free char *init = st_xasprintf("%s/sandtrace-init", dirname(hook));

    if (access(init, X_OK) < 0)
        return st_fail_errno(err, "%s", init);
    if (st_run_place_make(job->config, &r->place, err) < 0 || st_run_place_enter(&r->place, err) < 0 ||
        st_run_runtime_find(&r->place, job->cli, &r->runtime, err) < 0 ||
        st_run_guard_start(&r->guard, &r->place, &r->runtime, &r->term, err) < 0 ||
        st_run_tree_make(&r->place, job->config, job->args, job->who, init, job->workspace, &r->tree, err) <
            0 ||
        write_bundle(r, err) < 0)
        return -err->errnum;
    return 0;
}

static int create(struct run *r, struct st_error *err)
{
    struct streams s = {{-1, -1, -1}, {-1, -1, -1}};
    int master = -1;
    int rc = make_pipes(&s, err);

    if (rc == 0)
        rc = give_pipes(&s, r->job->who, err);
    r->created = rc == 0; /* what failed half-way is deleted too */
    if (rc == 0)
        rc = st_run_create(&r->runtime, s.theirs, r->terminal, s.ours[2], &master, &r->session.init, err);
    if (rc == 0)
        connect_streams(r, &s, master);
    close_streams(&s);
    return rc;
}

static int run_it(struct run *r, struct st_error *err)
{
    if (make_place(r, err) < 0 || create(r, err) < 0)
        return -err->errnum;
    if (r->job->stack && st_run_net_start(&r->net, r->job->stack, r->session.init, err) < 0)
        return -err->errnum;
    if (r->job->connect && r->job->connect(r->job->connect_ctx, r->session.init, err) < 0)
        return -err->errnum;
    if (st_run_pauses_open(&r->pauses, r->job->config->state_dir, r->place.id, err) < 0 ||
        st_run_start(&r->runtime, err) < 0)
        return -err->errnum;
    if (r->terminal && st_run_term_is_ours(&r->term))
        st_run_term_raw(&r->term);
    r->job->code = st_run_attend(&r->session);
    return 0;
}

/* ---- taking away ---- */

static int take_away(struct run *r, struct st_error *err)
{
    int rc = r->created ? st_run_delete(&r->runtime, err) : 0;

    if (r->terminal)
        st_run_term_restore(&r->term);
    st_run_net_stop(&r->net);
    for (size_t i = 0; i < ST_RUN_STREAMS; i++)
        st_relay_close(&r->session.streams[i]);
    st_close(&r->session.master);
    st_close(&r->session.signals);
    st_run_pauses_close(&r->pauses);
    snprintf(r->job->id, sizeof(r->job->id), "%s", r->place.id);
    r->job->left_out = r->tree.left_out;
    st_run_tree_free(&r->tree);
    st_run_place_remove(&r->place);
    st_run_guard_dismiss(&r->guard);
    st_run_runtime_free(&r->runtime);
    st_close(&r->term.fd);
    return rc;
}

static bool colors(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

int st_run_job(struct st_run_job *job, struct st_error *err)
{
    struct run r = {.job = job,
                    .place = ST_RUN_PLACE_NONE,
                    .term = ST_RUN_TERM_NONE,
                    .net = ST_RUN_NET_OFF,
                    .pauses = ST_RUN_PAUSES_NONE,
                    .session = {.master = -1}};
    struct st_error later = {0};
    int rc;

    for (size_t i = 0; i < ST_RUN_STREAMS; i++)
        r.session.streams[i].from = r.session.streams[i].to = -1;
    r.session.runtime = &r.runtime;
    r.session.term = r.pauses.term = &r.term;
    r.session.pauses = &r.pauses;
    r.session.signals = st_run_signals();
    prctl(PR_SET_CHILD_SUBREAPER,
          1); /* the container's first process becomes our child: its end is ours to know */
    st_run_term_open(&r.term);
    r.terminal = job->args->interactive || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
    r.pauses.raw = r.terminal;
    r.pauses.color = colors();
    r.pauses.config = job->cli->config;
    rc = run_it(&r, err);
    if (take_away(&r, &later) < 0 && rc == 0) {
        *err = later;
        rc = -later.errnum;
    }
    return rc;
}
