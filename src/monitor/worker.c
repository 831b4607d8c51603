/* worker: see worker.h. */
#include "monitor/worker.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "monitor/confine.h"
#include "monitor/home.h"
#include "monitor/link.h"
#include "monitor/process_pace.h"
#include "monitor/worker_private.h"
#include "respond/freezer.h"
#include "respond/kill.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#define POLL_NS 100000000LL
#define RETRY_NS 1000000000LL
#define QUIET_MS 2000 /* after that long without work a monitor is idle */

/* ---- recording ---- */

/* The trace can't be written: the container stands still until it can, or by configuration is killed. */
static void on_trace_failure(void *ctx, const struct st_error *err)
{
    struct st_worker *w = ctx;
    int64_t now = st_now_mono_ns();
    bool first = !w->retry_ns;

    if (st_trace_is_broken(w->pipeline.trace))
        w->loop.quit = w->trace_lost = true;
    w->retry_ns = now + RETRY_NS;
    w->failure = *err;
    if (!first)
        return;
    w->failed_ns = now;
    if (w->exited)
        return;
    st_pauses_stick(&w->pipeline.pauses);
    if (w->watch->order.on_trace_failure == ST_FAIL_PAUSE)
        return;
    st_worker_end_container(w);
    w->stop.reason = "the trace could not be written";
}

void st_worker_record_sensor(struct st_worker *w, const char *name, const char *state, const char *detail)
{
    st_auto_buf payload = ST_BUF_INIT;
    struct st_error err = {0};

    st_record_sensor(&payload, name, state, detail);
    if (st_pipeline_note(&w->pipeline, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, true, &err) <
        0)
        on_trace_failure(w, &err);
}

/* ---- the end ---- */

/* Of a worker that took over nothing is known of what was before. */
static int sum_up(struct st_worker *w, struct st_error *err)
{
    st_auto_buf payload = ST_BUF_INIT;

    if (w->loss || w->watch->fan < 0)
        return 0;
    st_files_drain(&w->files);
    st_summary_write(&w->pipeline.summary, &payload);
    return st_pipeline_note(&w->pipeline, ST_EV_FILESYSTEM_SUMMARY, ST_TIER_DERIVED, payload.data,
                            payload.len, false, err);
}

static void find_status(struct st_worker *w)
{
    if (!w->stop.status_known)
        w->stop.status_known = st_lifecycle_status(&w->watch->life, &w->stop.status) ||
                               st_processes_init_status(&w->processes, &w->stop.status);
}

/* The batch keeps what could not be written: once sealed, a retry forces and appends nothing. */
static int seal(struct st_worker *w, struct st_error *err)
{
    st_auto_buf payload = ST_BUF_INIT;

    if (w->sealed)
        return st_trace_force(w->pipeline.trace, err);
    if (st_pipeline_unfold(&w->pipeline, INT64_MAX, err) < 0)
        return -err->errnum;
    if (!w->summed)
        st_processes_end(&w->processes);
    if (!w->summed)
        st_network_drain(&w->network);
    if (!w->summed && sum_up(w, err) < 0)
        return -err->errnum;
    w->summed = true;
    find_status(w);
    w->stop.events = atomic_load(&w->watch->pulse->events) + 1;
    w->stop.refused = atomic_load(&w->watch->pulse->refused);
    w->stop.duration_ms = (st_now_mono_ns() - w->watch->started_ns) / 1000000;
    w->stop.processes = w->processes.tree ? st_tree_totals(w->processes.tree) : NULL;
    w->stop.syscalls = w->mutations.notify ? &w->mutations.syscalls : NULL;
    st_record_stop(&payload, &w->stop);
    if (st_pipeline_note(&w->pipeline, ST_EV_LIFECYCLE, ST_TIER_KERNEL, payload.data, payload.len, false,
                         err) < 0)
        return -err->errnum;
    w->sealed = true;
    return st_trace_checkpoint(w->pipeline.trace, true, err);
}

static void finish(struct st_worker *w)
{
    struct st_error err = {0};

    if (seal(w, &err) < 0) {
        on_trace_failure(w, &err);
        return;
    }
    st_control_end(&w->control);
    w->loop.quit = true;
}

static bool container_gone(const struct st_worker *w)
{
    return w->exited && !st_quarantine_busy(&w->quarantine) &&
           (!w->watch->can_freeze || st_cgroup_empty(&w->watch->cgroup));
}

void st_worker_look(struct st_worker *w)
{
    if (container_gone(w))
        finish(w);
}

static void on_group_event(void *ctx, uint32_t events)
{
    (void)events;
    st_worker_look(ctx);
}

/* Processes may outlive the first one where the pid namespace is shared: the watch goes on until the
 * group is empty. */
static void on_init_exit(void *ctx, uint32_t events)
{
    struct st_worker *w = ctx;

    (void)events;
    w->exited = true;
    st_loop_remove(&w->loop, w->watch->life.pidfd);
    st_late_close(&w->files.late, &w->loop);
    st_quarantine_at_end(w);
    st_pauses_end_all(&w->pipeline.pauses, true);
    find_status(w);
    if (container_gone(w)) {
        finish(w);
        return;
    }
    if (w->watch->cgroup.kind == ST_CGROUP_V1 ||
        st_loop_add(&w->loop, "group", w->watch->cgroup.events_fd, EPOLLPRI, on_group_event, w) < 0)
        w->poll_ns = st_now_mono_ns() + POLL_NS;
}

/* ---- time ---- */

static int64_t earliest(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static int64_t own_deadline(const struct st_worker *w)
{
    if (w->retry_ns)
        return w->retry_ns;
    if (w->processes.more)
        return 0;
    return earliest(earliest(st_trace_deadline(w->pipeline.trace), w->poll_ns ? w->poll_ns : -1),
                    earliest(earliest(st_pipeline_deadline(&w->pipeline), st_bus_deadline(&w->bus)),
                             st_network_deadline(&w->network)));
}

/* While the trace can't be written nothing of the network is kept alive. */
ST_IDLE_CODE static int64_t upkeep(void *ctx)
{
    const struct st_worker *w = ctx;

    return w->retry_ns ? -1 : st_network_renewal(&w->network);
}

ST_IDLE_CODE static void on_upkeep(void *ctx)
{
    struct st_worker *w = ctx;

    st_network_renew(&w->network);
}

static int64_t next_deadline(void *ctx)
{
    struct st_worker *w = ctx;

    return earliest(
        earliest(own_deadline(w), st_files_deadline(&w->files)),
        earliest(st_quarantine_deadline(&w->quarantine), st_process_pace_deadline(&w->processes)));
}

/* What was missed meanwhile is declared before anything goes on. */
static int record_gap(struct st_worker *w, struct st_error *err)
{
    st_auto_buf payload = ST_BUF_INIT;
    struct st_trace_gap gap = {.reason = w->failure.msg,
                               .not_recorded = w->pipeline.not_recorded,
                               .duration_ms = (st_now_mono_ns() - w->failed_ns) / 1000000};

    /* Once sealed nothing can have happened but retries. */
    if (w->sealed)
        return 0;
    st_record_trace_gap(&payload, &gap);
    return st_pipeline_note(&w->pipeline, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, true,
                            err);
}

static void retry_trace(struct st_worker *w)
{
    struct st_error err = {0};

    if (st_trace_force(w->pipeline.trace, &err) < 0 || record_gap(w, &err) < 0) {
        on_trace_failure(w, &err);
        return;
    }
    w->retry_ns = 0;
    w->pipeline.not_recorded = 0;
    if (!w->exited)
        st_pauses_unstick(&w->pipeline.pauses);
    on_group_event(w, 0);
}

static void on_deadline(void *ctx)
{
    struct st_worker *w = ctx;
    struct st_error err = {0};
    int64_t own = own_deadline(w);

    st_files_tick(&w->files);
    st_quarantine_tick(w);
    if (own < 0 || own > st_now_mono_ns())
        return;
    if (w->retry_ns) {
        retry_trace(w);
        return;
    }
    if (st_trace_commit(w->pipeline.trace, &err) < 0)
        on_trace_failure(w, &err);
    st_pipeline_tick(&w->pipeline);
    st_bus_tick(&w->bus);
    st_network_tick(&w->network);
    if (w->poll_ns) {
        w->poll_ns = st_now_mono_ns() + POLL_NS;
        on_group_event(w, 0);
    }
}

/* ---- start ---- */

static void on_recorded(void *ctx, const struct st_trace_told *told)
{
    struct st_worker *w = ctx;

    st_news_tell(&w->news, told);
}

ST_IDLE_CODE static void on_quiet(void *ctx)
{
    struct st_worker *w = ctx;

    st_process_cache_clear(w->pipeline.known);
    st_files_rest(&w->files);
    st_home_shed();
}

static void on_sink_report(void *ctx, const struct st_tell_report *r)
{
    struct st_worker *w = ctx;
    const struct st_order *o = &w->watch->order;
    st_auto_buf payload = ST_BUF_INIT;
    struct st_error err = {0};

    st_record_sink(&payload, r, r && r->sink < o->n_sinks ? o->sinks[r->sink].to : NULL);
    w->news.about_sinks = true;
    if (st_pipeline_note(&w->pipeline, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, false,
                         &err) < 0)
        on_trace_failure(w, &err);
    w->news.about_sinks = false;
}

/* Who is who is known before anything that it does is looked at. */
static void before_round(void *ctx)
{
    struct st_worker *w = ctx;

    st_processes_settle(&w->processes);
}

static void after_round(void *ctx)
{
    struct st_worker *w = ctx;

    st_pipeline_written(&w->pipeline);
    st_news_flush(&w->news);
}

static bool is_inside(void *ctx, pid_t pid)
{
    struct st_worker *w = ctx;

    if (w->watch->fan < 0)
        return false;
    return !st_process_read(pid, &w->files.members, &w->files.room) || w->files.room.facts.in_container;
}

static int attach(struct st_worker *w, struct st_error *err)
{
    int rc;

    w->loop.deadline = next_deadline;
    w->loop.on_deadline = on_deadline;
    w->loop.deadline_ctx = w;
    w->loop.before_round = before_round;
    w->loop.after_round = after_round;
    w->loop.eager = st_worker_eager;
    w->loop.on_eager = st_worker_on_eager;
    w->loop.on_quiet = on_quiet;
    w->loop.quiet_ms = QUIET_MS;
    w->loop.upkeep = upkeep;
    w->loop.on_upkeep = on_upkeep;
    st_engines_init(&w->engines, &w->loop, &w->pipeline.engine_acts);
    w->news.control = &w->control;
    w->news.bus = &w->bus;
    w->news.teller = &w->teller;
    w->teller.report = on_sink_report;
    w->teller.ctx = w;
    rc = st_loop_add(&w->loop, "warden", w->link, EPOLLIN, st_worker_on_link, w);
    if (rc == 0)
        rc = st_loop_add(&w->loop, "init", w->watch->life.pidfd, EPOLLIN, on_init_exit, w);
    if (rc < 0)
        return st_fail(err, -rc, "watch the container");
    if (w->watch->fan >= 0) {
        rc = st_loop_add(&w->loop, "files", w->watch->fan, EPOLLIN, st_worker_on_files, w);
        if (rc == 0)
            rc = st_files_attach(&w->files, &w->loop);
        if (rc < 0)
            return st_fail(err, -rc, "watch the filesystem");
    }
    if (w->mutations.notify && st_mutations_attach(&w->mutations, &w->loop, err) < 0)
        return -err->errnum;
    if (st_network_attach(&w->network, &w->loop, err) < 0 ||
        st_processes_attach(&w->processes, &w->loop, err) < 0)
        return -err->errnum;
    w->pipeline.ctx = w;
    w->pipeline.trace_failed = on_trace_failure;
    w->pipeline.kill = st_worker_kill;
    st_trace_listen(w->pipeline.trace, on_recorded, w);
    w->control.is_inside = is_inside;
    if (st_control_attach(&w->control, &w->loop, st_worker_answer, w, err) < 0)
        return -err->errnum;
    return st_teller_attach(&w->teller, &w->loop, err);
}

/* Sealed and unlocked is what the engine waits for; closing the sensors takes the kernel some milliseconds.
 */
static void leave(struct st_worker *w)
{
    st_trace_close(w->pipeline.trace);
    st_mutations_close(&w->mutations);
    st_processes_close(&w->processes);
    st_network_leave(&w->network, &w->watch->order.network);
    st_process_cache_free(w->pipeline.known);
    if (w->warden_lost)
        st_watch_remove(w->watch);
    else
        st_link_send(w->link, ST_LINK_DONE, 0, NULL);
    st_bus_close(&w->bus);
    st_teller_close(&w->teller);
}

static int start(struct st_worker *w, struct st_error *err)
{
    struct st_error bad = {0};
    /* Who works the sinks is born before there is a key. */
    bool prepared =
        st_teller_start(&w->teller, &w->watch->order, &bad) == 0 && st_worker_prepare(w, &bad) == 0;
    /* What is wrong is said when there is somebody to be told. */
    if (st_worker_meet(w, prepared, err) < 0)
        return -err->errnum;
    if (!prepared) {
        *err = bad;
        return -err->errnum;
    }
    if (st_worker_open(w, err) < 0 || attach(w, err) < 0)
        return -err->errnum;
    return st_worker_record_start(w, err);
}

static int run(struct st_worker *w)
{
    struct st_error err = {0};

    if (start(w, &err) < 0) {
        st_network_close(&w->network); /* no container will run there: neither rules nor files of ours stay */
        st_link_send(w->link, ST_LINK_FAILED, 0, err.msg);
        return 1;
    }
    st_link_send(w->link, w->loss ? ST_LINK_RECORDED : ST_LINK_READY, st_quarantine_resume(w), NULL);
    /* The container can't have said a word yet: being confined is due before it is listened to. */
    if (st_confine_worker(&w->filter, w->network.on || w->network.inherited, &err) < 0)
        return 1;
    st_buf_free(&w->filter);
    if (st_loop_run(&w->loop) < 0)
        return 1;
    if (w->trace_lost)
        return ST_WORKER_TRACE_LOST;
    leave(w);
    return 0;
}

int st_worker_run(struct st_watch *watch, int link, const struct st_loss *loss)
{
    /* Most of it is room for what a quiet container never does: pages that nobody touches cost nothing. */
    struct st_worker *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (w == MAP_FAILED) {
        st_link_send(link, ST_LINK_FAILED, 0, "sandtrace-monitor: out of memory");
        return 1;
    }
    w->watch = w->pipeline.watch = watch;
    w->loss = loss;
    w->link = link;
    w->scout = (struct st_scout)ST_SCOUT_NONE;
    w->quarantine.socket = -1;
    w->stop.reason = loss ? "worker lost" : "ended";
    return run(w);
}
