/* worker_support: see worker_support.h. */
#include "worker_support.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static const char policy_text[] = "schema_version: \"2.0\"\n"
                                  "name: p\n"
                                  "mode: enforce\n"
                                  "defaults: { filesystem: { read: allow, write: allow, exec: allow } }\n"
                                  "rules:\n"
                                  "  - id: secrets\n"
                                  "    type: filesystem\n"
                                  "    action: deny\n"
                                  "    severity: critical\n"
                                  "    paths: [/etc/shadow]\n";

static void give_up(const struct st_error *err)
{
    fprintf(stderr, "worker_support: %s\n", err->msg);
    abort();
}

static void answer_operation(void *ctx, struct st_operation *op, bool allow)
{
    struct worker_fixture *f = ctx;

    (void)op;
    if (allow)
        f->allowed++;
    else
        f->refused++;
}

static void on_kill(void *ctx, const struct st_violation *why)
{
    struct worker_fixture *f = ctx;

    (void)why;
    f->killed++;
}

static void on_recorded(void *ctx, const struct st_trace_told *told)
{
    struct worker_fixture *f = ctx;

    st_news_tell(&f->worker.news, told);
}

static void on_trace_failure(void *ctx, const struct st_error *err)
{
    struct worker_fixture *f = ctx;

    (void)err;
    f->trace_failures++;
}

static void write_policy(const struct worker_fixture *f)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/p.yaml", f->dir);
    file = fopen(path, "we");
    if (!file || fputs(policy_text, file) < 0 || fclose(file) != 0)
        abort();
}

static void open_parts(struct worker_fixture *f)
{
    struct st_worker *w = &f->worker;
    struct st_error err = {0};
    char path[128];
    struct st_trace_options options = {.path = path, .agent_id = "box", .trace_id = "box@now"};

    snprintf(path, sizeof(path), "%s/box.jsonl", f->dir);
    if (st_lifecycle_open(getpid(), &f->watch.life, &err) < 0 ||
        st_worker_load_policy(&f->watch.order, &w->pipeline.policy, NULL, &err) < 0 ||
        st_trace_open(&options, &w->pipeline.trace, &err) < 0)
        give_up(&err);
    st_trace_listen(w->pipeline.trace, on_recorded, f);
    w->pipeline.counters = st_counters_new(w->pipeline.policy);
    if (st_pipeline_fold(&w->pipeline, &err) < 0)
        give_up(&err);
    st_pauses_init(&w->pipeline.pauses, &f->watch);
    st_loop_init(&w->loop, epoll_create1(EPOLL_CLOEXEC), &f->pulse);
    if (st_control_open(&w->control, f->watch.state.dirfd, -1, "box", &err) < 0 ||
        st_control_attach(&w->control, &w->loop, st_worker_answer, w, &err) < 0)
        give_up(&err);
}

void worker_fixture_open(struct worker_fixture *f)
{
    struct st_worker *w = &f->worker;
    static const char *dirs[1];

    *f = (struct worker_fixture){.watch = {.life = ST_LIFECYCLE_NONE,
                                           .cgroup = ST_CGROUP_NONE,
                                           .state = ST_STATEDIR_NONE,
                                           .fan = -1,
                                           .worker_epfd = -1,
                                           .no_freeze = "there is nothing to freeze"}};
    /* In memory: each decision is forced to disk. */
    snprintf(f->dir, sizeof(f->dir), "/dev/shm/worker.XXXXXX");
    if (!mkdtemp(f->dir))
        abort();
    write_policy(f);
    dirs[0] = f->dir;
    f->watch.pulse = &f->pulse;
    f->watch.started_ns = st_now_mono_ns();
    f->watch.order = (struct st_order){.id = "box",
                                       .pid = getpid(),
                                       .policy = "p",
                                       .policy_dirs = dirs,
                                       .n_policy_dirs = 1,
                                       .agent_id = "box",
                                       .trace_id = "box@now",
                                       .trace_path = "box.jsonl",
                                       .control_gid = -1};
    f->watch.state.dirfd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    f->watch.state.lock_fd = openat(f->watch.state.dirfd, "monitor.pid", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    f->watch.state.path = st_xstrdup(f->dir);
    w->watch = &f->watch;
    w->pipeline.watch = &f->watch;
    w->pipeline.ctx = f;
    w->pipeline.kill = on_kill;
    w->pipeline.trace_failed = on_trace_failure;
    w->bus.dirfd = w->bus.notify = -1;
    for (int i = 0; i < ST_BUS_READERS; i++)
        w->bus.readers[i].fd = -1;
    w->news.control = &w->control;
    w->news.bus = &w->bus;
    w->news.teller = &w->teller;
    w->teller.fd = -1;
    open_parts(f);
    f->client = (struct st_client){.control = &w->control, .fd = -1};
}

void worker_fixture_close(struct worker_fixture *f)
{
    struct st_worker *w = &f->worker;
    char path[128];

    st_pauses_end_all(&w->pipeline.pauses, false);
    st_grants_free(&w->pipeline.grants);
    st_fold_free(w->pipeline.fold);
    st_counters_free(w->pipeline.counters);
    st_policy_unref(w->pipeline.policy);
    st_trace_close(w->pipeline.trace);
    st_control_end(&w->control);
    st_ring_free(&w->news.ring);
    st_buf_free(&f->client.in);
    st_outbox_free(&f->client.out);
    close(w->loop.epfd);
    st_lifecycle_close(&f->watch.life);
    snprintf(path, sizeof(path), "%s/p.yaml", f->dir);
    unlink(path);
    snprintf(path, sizeof(path), "%s/box.jsonl", f->dir);
    unlink(path);
    st_statedir_remove(&f->watch.state);
}

struct st_operation worker_fixture_operation(struct worker_fixture *f)
{
    return (struct st_operation){.answerer = answer_operation, .ctx = f, .fd = -1};
}

struct st_pause *worker_fixture_hold(struct worker_fixture *f)
{
    struct st_pipeline *p = &f->worker.pipeline;
    struct st_operation op = worker_fixture_operation(f);
    struct st_event ev = {.type = ST_EV_FILESYSTEM,
                          .tier = ST_TIER_KERNEL,
                          .wall_us = st_now_wall_us(),
                          .fs = {.op = ST_FS_OPEN,
                                 .access = ST_ACCESS_READ,
                                 .path = ST_STR_LIT("/etc/shadow"),
                                 .size = ST_UNKNOWN}};
    struct st_verdict v = {0};
    struct st_error err = {0};
    char id[ST_EVENT_ID_SIZE];
    struct st_pause *pause;
    struct st_str line;

    st_policy_eval(p->policy, p->counters, &ev, &v);
    v.action = ST_ACT_PAUSED;
    if (st_trace_append(p->trace, &ev, &v, id, &err) < 0)
        give_up(&err);
    line = st_trace_line(p->trace);
    pause = st_pauses_add(&p->pauses, &op, 0);
    pause->line = st_xstrndup(line.p, line.len);
    st_grants_add(&pause->proposal, &ev, pause->id);
    return pause;
}

const char *worker_fixture_ask(struct worker_fixture *f, const char *request)
{
    st_outbox_free(&f->client.out);
    st_client_feed(&f->client, request, strlen(request));
    st_client_feed(&f->client, "\n", 1);
    return st_buf_cstr(&f->client.out.queue);
}
