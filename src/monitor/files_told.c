/* files_told: opens that nobody was asked about, on the record afterwards (depth record).
 *
 * Who has ended by the time that it is read is not known any more; through which mount it was is: then it was
 * somebody of the container. Whether it was to read or to write is not told; who wanted to write was asked
 * before, and is on the record with that. */
#include "monitor/files.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/fault.h"
#include "monitor/record.h"
#include "sensors/fan.h"

#include <stdio.h>
#include <sys/epoll.h>

/* How many did not fit the kernel does not say; that some did not, and how often that was. */
void st_files_note_loss(struct st_files *f)
{
    const struct st_decider by = {
        .how = "sensor", .uid = ST_UNKNOWN, .name = "files", .reason = "news of files were lost"};
    st_auto_buf payload = ST_BUF_INIT;
    struct st_pipeline *p = f->pipeline;
    struct st_error err = {0};
    char detail[128];

    snprintf(detail, sizeof(detail),
             "more was opened or closed at once than could be recorded (%llu times by now)",
             (unsigned long long)++f->overflows);
    st_record_sensor(&payload, "files", "degraded", detail);
    if (st_pipeline_note(p, ST_EV_SENSOR, ST_TIER_KERNEL, payload.data, payload.len, true, &err) < 0 &&
        p->trace_failed)
        p->trace_failed(p->ctx, &err);
    if (st_policy_mode(p->policy) == ST_MODE_ENFORCE)
        st_pipeline_hold(p, &by, &err);
}

/* Not the host's, and not the runtime's on its way in. */
static bool is_containers(struct st_files *f, pid_t tid)
{
    if (tid == f->self || tid == f->warden || !f->init_runs)
        return false;
    f->who = st_process_cached(f->pipeline->known, tid, ST_UNKNOWN, st_now_mono_ns());
    if (!f->who) {
        f->room.facts = (struct st_process_facts){0};
        f->who = &f->room.facts;
    }
    /* Who has ended runs no program and is in no group any more. */
    if (!f->who->process.exe.p)
        return true;
    return f->who->in_container && !st_files_enters(f);
}

static void take(void *ctx, const struct st_fan_event *seen)
{
    struct st_files *f = ctx;
    st_auto_fd fd = seen->fd;
    st_auto_operation op = {.fd = -1};
    struct st_event ev = {.type = ST_EV_FILESYSTEM,
                          .tier = ST_TIER_KERNEL,
                          .wall_us = st_now_wall_us(),
                          .fs = {.op = ST_FS_OPEN, .access = ST_ACCESS_READ}};

    if (seen->overflow)
        st_files_note_loss(f);
    if (fd < 0 || seen->exec || !st_depth_watch_is_told(&f->depth, fd) || !is_containers(f, seen->tid))
        return;
    st_files_describe(f, fd, &ev);
    if (f->opened && st_opened_known(f->opened, seen->tid, ev.fs.path))
        return;
    ev.process = f->who->process;
    st_pipeline_use(f->pipeline, &ev, &op, st_now_mono_ns());
}

int st_files_read_told(struct st_files *f)
{
    st_fault(f->pipeline->watch, "told");
    return st_fan_read(f->depth.told, take, f);
}

static void on_told(void *ctx, uint32_t events)
{
    (void)events;
    st_files_read_told(ctx);
}

int st_files_attach(struct st_files *f, struct st_loop *loop)
{
    int rc = st_late_attach(&f->late, loop);

    if (rc < 0 || f->depth.told < 0)
        return rc;
    return st_loop_add(loop, "opens", f->depth.told, EPOLLIN, on_told, f);
}
