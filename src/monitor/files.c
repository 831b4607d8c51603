/* files: see files.h. */
#include "monitor/files.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "monitor/leftover.h"
#include "monitor/memfd.h"
#include "monitor/reach.h"
#include "monitor/record.h"
#include "sensors/access.h"
#include "sensors/fan.h"
#include "sensors/runtime_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define AT_ONCE_NS 1000000      /* a thread that runs needs less until it sleeps */
#define PATIENCE_NS 10000000000 /* what is not known by then is taken for the worst */

/* NUL-terminated, of at most size bytes; the kernel says no where it is longer than a page. */
static ssize_t path_of(const struct st_files *f, int fd, char *out, size_t size)
{
    char link[16];
    ssize_t n;

    snprintf(link, sizeof(link), "%d", fd);
    n = readlinkat(f->fds, link, out, size);
    if (n >= 0)
        out[n] = '\0';
    return n;
}

/* token: the task whose open has made the file; 0: it was there. */
static void answer(void *ctx, struct st_operation *op, bool allow)
{
    struct st_files *f = ctx;
    char path[PATH_MAX];

    if (!allow && op->token && path_of(f, op->fd, path, sizeof(path) - 1) > 0)
        st_leftover_remove(f->pipeline->watch, (pid_t)op->token, op->fd, path);
    st_fan_answer(f->fan, &op->fd, allow);
}

/* token: the thread that waits. */
static void answer_exec(void *ctx, struct st_operation *op, bool allow)
{
    struct st_files *f = ctx;

    if (allow)
        st_execs_let(&f->execs, (pid_t)op->token, op->fd);
    st_fan_answer(f->fan, &op->fd, allow);
}

/* A runtime that enters as a copy of itself in memory: another one each time, known by its content, once. */
static bool runs_copy(struct st_files *f, pid_t leader, const struct stat *program)
{
    if (f->entrant.pid != leader || f->entrant.ino != program->st_ino)
        f->entrant = (struct st_files_entrant){
            leader, program->st_ino,
            st_program_is_copy(leader, program, f->memory_dev, st_process_parent(leader))};
    return f->entrant.runtime;
}

/* The program of the process, by its identity; names can be chosen. What has run a program in the container
 * never is the runtime, whatever it runs next: its program may lie where the container can run it, with
 * anything loaded into it. Where the kernel tells nothing of that, content is not believed. */
static bool runs_runtime(struct st_files *f, pid_t leader)
{
    struct stat sb;

    if (st_processes_has_run(f->processes, leader) || !st_program_stat(leader, &sb))
        return false;
    return (sb.st_dev == f->runtime_dev && sb.st_ino == f->runtime_ino) ||
           (f->processes && f->processes->streaming && runs_copy(f, leader, &sb));
}

/* A program of the container that is a copy of the runtime has a parent inside. */
bool st_files_enters(struct st_files *f)
{
    return f->who->process.n_ancestry > 0 && f->who->parent_outside && runs_runtime(f, f->who->leader);
}

/* The runtime has done all, and the first program has not begun. A container that can still reach past its
 * watch comes no further. */
static void begin_to_run(struct st_files *f)
{
    st_auto_buf payload = ST_BUF_INIT;
    struct st_pipeline *p = f->pipeline;
    struct st_error open = {0}, err = {0};

    st_late_begin(&f->late);
    if (!f->closing || st_reach_prove(p->watch, &open) == 0)
        return;
    f->refuse_all = true;
    st_record_sensor(&payload, "reach", "degraded", open.msg);
    if (st_pipeline_note(p, ST_EV_SENSOR, ST_TIER_KERNEL, payload.data, payload.len, true, &err) < 0 &&
        p->trace_failed)
        p->trace_failed(p->ctx, &err);
}

/* `runc init`, on its way into the container (create or exec): still the runtime's program, and started from
 * outside. */
static bool is_setup(struct st_files *f, const struct st_fan_event *ev)
{
    if (f->who->leader == f->init && !f->init_runs) {
        f->init_runs = ev->exec;
        if (ev->exec)
            begin_to_run(f);
        return !ev->exec;
    }
    return !ev->exec && st_files_enters(f);
}

/* ---- who opens ---- */

/* What could be found out; who is gone is taken for one of the container's. */
static const struct st_process_facts *look_at(struct st_files *f, pid_t tid)
{
    f->partly = false;
    st_process_read(tid, &f->members, &f->room);
    return &f->room.facts;
}

/* Who executes, where the book knows it and nothing depends on more. */
static bool recognise(struct st_files *f, const struct st_fan_event *seen)
{
    f->partly = seen->exec && !f->refuse_all && !st_policy_asks_who(f->pipeline->policy) &&
                st_processes_are_settled(f->processes) &&
                st_process_recognise(&f->asker, seen->tid, f->processes->tree, &f->room);
    return f->partly;
}

static void tell_all(void *ctx, const struct st_operation *op, struct st_event *ev)
{
    struct st_files *f = ctx;

    if (st_process_read((pid_t)op->token, &f->members, &f->room))
        ev->process = f->room.facts.process;
    else
        ev->process.incomplete = true;
}

/* What is kept will do where the policy does not ask, and the process goes on with the program that it runs.
 */
static const struct st_process_facts *find_caller(struct st_files *f, const struct st_fan_event *seen,
                                                  int64_t seen_ns)
{
    const struct st_process_facts *kept = NULL;

    if (!f->refuse_all && !seen->exec && !st_policy_asks_who(f->pipeline->policy))
        kept = st_process_cached(f->pipeline->known, seen->tid, ST_UNKNOWN, seen_ns);
    return kept ? kept : look_at(f, seen->tid);
}

static bool is_kept(const struct st_files *f)
{
    return f->who != &f->room.facts;
}

/* What may be kept of who asks is good for a use that is let by; one that is not is worth a closer look. */
static void look_closer(struct st_files *f, pid_t tid, struct st_event *ev)
{
    if (!is_kept(f) || !st_process_read(tid, &f->members, &f->room))
        return;
    f->who = &f->room.facts;
    ev->process = f->who->process;
}

static bool describe(struct st_files *f, int fd, struct st_event *ev, struct statx *sx)
{
    ssize_t n = path_of(f, fd, f->path, sizeof(f->path) - 1);

    if (n >= 0)
        ev->fs.path = (struct st_str){.p = f->path, .len = (size_t)n};
    else
        ev->fs.path = (struct st_str){0};
    ev->fs.size = ST_UNKNOWN;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, sx) < 0)
        return false;
    ev->fs.dev = makedev(sx->stx_dev_major, sx->stx_dev_minor);
    ev->fs.ino = sx->stx_ino;
    if (S_ISREG(sx->stx_mode))
        ev->fs.size = (int64_t)sx->stx_size;
    /* The kernel appends this to the path of a file without a name; a name that ends so by itself has one. */
    if (sx->stx_nlink == 0 && n > 10 && memcmp(f->path + n - 10, " (deleted)", 10) == 0)
        ev->fs.path.len -= 10;
    return true;
}

void st_files_describe(struct st_files *f, int fd, struct st_event *ev)
{
    struct statx unused;

    describe(f, fd, ev, &unused);
}

static void judge(struct st_files *f, const struct st_fan_event *seen, const char *registers,
                  struct st_operation *op, int64_t seen_ns)
{
    const struct st_wanted wanted = st_access_of_syscall(registers, seen->exec);
    struct st_event ev = {.type = ST_EV_FILESYSTEM,
                          .tier = ST_TIER_KERNEL,
                          .wall_us = st_now_wall_us(),
                          .process = f->who->process,
                          .fs = {.op = seen->exec ? ST_FS_EXEC : ST_FS_OPEN, .access = wanted.access}};
    struct st_verdict unused;
    struct statx sx;
    bool judged, found = describe(f, op->fd, &ev, &sx);

    if (seen->exec && f->processes)
        st_processes_will_run(f->processes, f->who->leader, ev.fs.ino, ev.fs.path);
    if (!f->opened && st_leftover_is_new(op->fd, &wanted)) {
        ev.fs.op = ST_FS_CREATE;
        ev.fs.access |= ST_ACCESS_CREATE;
        op->token = (uint64_t)seen->tid;
    }
    if (seen->exec) {
        op->answerer = answer_exec;
        op->token = (uint64_t)seen->tid;
        st_guards_name(&f->guards, &ev);
        st_execs_describe(&f->execs, seen, registers, f->who, found ? &sx : NULL,
                          st_policy_hashes(f->pipeline->policy) > 0, &ev);
        if (f->partly) {
            op->tell_all = tell_all;
            if (ev.type == ST_EV_PROCESS) /* what is counted together has these in common */
                ev.process.argv = st_process_argv(seen->tid, &f->room);
        }
        st_pipeline_use(f->pipeline, &ev, op, seen_ns);
        return;
    }
    if ((ev.fs.access & ST_ACCESS_WRITE) && st_pins_hold(&f->execs.pins, ev.fs.dev, ev.fs.ino)) {
        look_closer(f, seen->tid, &ev);
        st_pipeline_refuse(f->pipeline, &ev, op, "it is about to be executed, by its content");
        return;
    }
    judged = f->opened && st_opened_judged(f->opened, seen->tid, ev.fs.path, ev.fs.access);
    st_guards_name(&f->guards, &ev);
    if (f->opened && f->depth.told >= 0)
        st_opened_settle(f->opened, seen->tid, &ev); /* it is going to be told once more */
    /* What was judged was the name. Behind it is another object now, which is guarded? Then nothing was. */
    if (judged && !ev.fs.target.p) {
        st_summary_identify(&f->pipeline->summary, &ev.fs);
        st_operation_answer(op, true);
        return;
    }
    if (!st_pipeline_would_let(f->pipeline, &ev, &unused))
        look_closer(f, seen->tid, &ev);
    st_pipeline_use(f->pipeline, &ev, op, seen_ns);
}

static enum st_registers read_registers(struct st_files *f, pid_t tid, char *text, size_t size)
{
    int fd = is_kept(f)  ? st_process_cache_registers(f->pipeline->known, tid)
             : f->partly ? st_asker_registers(&f->asker, tid)
                         : -1;
    enum st_registers got = st_registers_read(fd, tid, text, size, AT_ONCE_NS);

    if (got != ST_REGISTERS_GONE || fd < 0)
        return got;
    /* Who was kept is gone; who asks may be another one with its number. */
    st_process_cache_forget(f->pipeline->known, tid);
    f->who = look_at(f, tid);
    return st_registers_read(-1, tid, text, size, AT_ONCE_NS);
}

/* Who is gone opens nothing. Who has not gone to sleep yet is asked later: then it is known what it wants. */
static void judge_use(struct st_files *f, const struct st_fan_event *seen, struct st_operation *op,
                      int64_t seen_ns)
{
    char text[256];
    enum st_registers got = read_registers(f, seen->tid, text, sizeof(text));

    if (got == ST_REGISTERS_GONE) {
        st_operation_answer(op, false);
        return;
    }
    if (got == ST_REGISTERS_RUNNING && st_now_mono_ns() - seen_ns < PATIENCE_NS) {
        (void)st_operation_steal(op);
        st_restless_keep(&f->restless, seen, seen_ns);
        return;
    }
    judge(f, seen, got == ST_REGISTERS_READ ? text : "", op, seen_ns);
}

/* Whoever closed it, it is of the summary only if the container wrote it. */
static void note_closed(struct st_files *f, int event_fd)
{
    st_auto_fd fd = event_fd;
    struct st_event ev = {0};

    st_depth_watch_find(&f->depth);
    st_files_describe(f, fd, &ev);
    st_summary_closed(&f->pipeline->summary, &ev.fs);
    /* Made by a call whose path was another one when it was asked about, or by somebody outside. */
    st_depth_watch_makes(&f->depth, ev.fs.path, fd);
}

static void take(void *ctx, const struct st_fan_event *seen)
{
    struct st_files *f = ctx;
    int64_t seen_ns = st_now_mono_ns();
    st_auto_operation op = {.answerer = seen->fd >= 0 ? answer : NULL, .ctx = f, .fd = seen->fd};

    f->pipeline->pauses.others_wait = seen->more || f->restless.n > 0;
    if (seen->closed) {
        op.answerer = NULL;
        note_closed(f, seen->fd);
        return;
    }
    if (seen->overflow) {
        st_files_note_loss(f);
        return;
    }
    if (seen->fd >= 0 && (uint32_t)seen->fd > atomic_load(&f->pipeline->watch->pulse->top_fd))
        atomic_store(&f->pipeline->watch->pulse->top_fd, (uint32_t)seen->fd);
    if (seen->tid == f->self || seen->tid == f->warden) {
        st_operation_answer(&op, true);
        return;
    }
    /* The runtime on its way in: there is nobody else in the container yet, and nothing to find out. */
    if (!f->refuse_all && !f->init_runs && !seen->exec && seen->tid == f->init) {
        f->setup_uses++;
        st_operation_answer(&op, true);
        return;
    }
    if (!f->refuse_all && !seen->exec && st_execs_is_let(&f->execs, seen->tid, seen->fd)) {
        st_operation_answer(&op, true);
        return;
    }
    if (recognise(f, seen)) {
        f->who = &f->room.facts;
    } else {
        if (seen->exec && f->filters)
            st_notify_meet(f->filters);
        f->who = find_caller(f, seen, seen_ns);
    }
    if (seen->exec && f->pipeline->known)
        st_process_cache_forget(f->pipeline->known, f->who->leader);
    if (!f->who->in_container) {
        f->host_uses++;
        st_operation_answer(&op, true);
    } else if (f->refuse_all) {
        st_operation_answer(&op, false);
    } else if (is_setup(f, seen)) {
        f->setup_uses++;
        st_operation_answer(&op, true);
    } else if (f->refuse_all) { /* since just now */
        st_operation_answer(&op, false);
    } else {
        judge_use(f, seen, &op, seen_ns);
    }
}

/* One that was kept. */
static void take_again(void *ctx, const struct st_restless_open *open)
{
    struct st_files *f = ctx;
    st_auto_operation op = {.answerer = answer, .ctx = f, .fd = open->seen.fd};

    f->pipeline->pauses.others_wait = true;
    if (f->refuse_all)
        return;
    f->who = look_at(f, open->seen.tid);
    judge_use(f, &open->seen, &op, open->seen_ns);
}

int64_t st_files_deadline(const struct st_files *f)
{
    int64_t open = st_restless_deadline(&f->restless), made = st_made_deadline(&f->depth.made);

    return open < 0 || (made >= 0 && made < open) ? made : open;
}

void st_files_tick(struct st_files *f)
{
    int64_t at = st_restless_deadline(&f->restless), made = st_made_deadline(&f->depth.made);

    if (at >= 0 && at <= st_now_mono_ns())
        st_restless_look(&f->restless, take_again, f);
    if (made >= 0 && made <= st_now_mono_ns())
        st_depth_watch_find(&f->depth);
}

void st_files_drain(struct st_files *f)
{
    while (f->pipeline && st_fan_read(f->fan, take, f) > 0)
        continue;
    while (f->pipeline && f->depth.told >= 0 && st_files_read_told(f) > 0)
        continue;
}

void st_files_rest(struct st_files *f)
{
    st_asker_close(&f->asker);
}

bool st_files_work(struct st_files *f)
{
    return st_fan_read(f->fan, take, f) > 0;
}

/* As "1 file system, 4 mounts; no permission events: /proc /sys". */
static void describe_marks(struct st_files *f, const struct st_mark_plan *plan, const struct st_order *order)
{
    size_t n[2] = {0};

    for (size_t i = 0; i < plan->n; i++)
        if (!plan->list[i].skip)
            n[plan->list[i].target == ST_FAN_MOUNT]++;
    st_buf_clear(&f->watched);
    st_buf_addf(&f->watched, "%zu file systems, %zu mounts", n[0], n[1]);
    for (size_t i = 0, first = 1; i < plan->n; i++)
        if (plan->list[i].skip) {
            st_buf_addf(&f->watched, "%s %s", first ? "; no permission events:" : "",
                        plan->list[i].mount->point + strlen(order->rootfs));
            first = 0;
        }
    st_depth_watch_describe(&f->depth, &f->watched);
}

static int put_marks(struct st_files *f, const struct st_watch *w, struct st_mount_tables *mounts,
                     struct st_error *err)
{
    st_auto_mark_plan plan = {0};

    if (st_marks_plan(&mounts->theirs, &mounts->ours, w->order.rootfs, &plan, err) < 0 ||
        st_depth_watch_open(&f->depth, f->pipeline, &mounts->theirs, &mounts->ours, &plan, err) < 0 ||
        st_marks_put(f->fan, w->order.pid, &plan, err) < 0 || st_depth_watch_tell(&f->depth, &plan, err) < 0)
        return -err->errnum;
    describe_marks(f, &plan, &w->order);
    st_execs_open(&f->execs, &f->depth.mounts, w->order.rootfs);
    st_late_open(&f->late, f->pipeline, &f->depth.mounts, &plan);
    if (f->depth.plan.depth == ST_DEPTH_STRICT)
        st_depth_watch_close(&f->depth);
    else
        st_mounts_free(&f->depth.mounts);
    return 0;
}

/* Not all of it at once: its pages are the worker's from the first byte that is written, and most are
 * scratch. */
static void begin(struct st_files *f, struct st_pipeline *p, struct st_watch *w)
{
    f->pipeline = p;
    f->fan = w->fan;
    f->fds = -1;
    f->late.table = -1;
    f->depth.told = -1;
    f->init = w->order.pid;
    f->self = getpid();
    f->warden = w->warden;
    st_watch_members(w, &f->members);
}

void st_files_take_over(struct st_files *f, struct st_pipeline *p, struct st_watch *w)
{
    begin(f, p, w);
    f->refuse_all = true;
}

int st_files_open(struct st_files *f, struct st_pipeline *p, struct st_watch *w,
                  struct st_mount_tables *mounts, struct st_error *err)
{
    struct stat sb;

    begin(f, p, w);
    f->fds = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (f->fds < 0)
        return st_fail_errno(err, "/proc/self/fd");
    f->memory_dev = st_program_memory();
    if (st_program_stat(w->order.pid, &sb)) {
        f->runtime_dev = sb.st_dev;
        f->runtime_ino = sb.st_ino;
    }
    if (st_guards_open(&f->guards, p, w, err) < 0)
        return -err->errnum;
    if (st_policy_exec_of(p->policy)->memfd == ST_DENY && st_policy_mode(p->policy) == ST_MODE_ENFORCE)
        f->memfd = st_memfd_forbid(w->order.pid, &f->no_memfd);
    else
        f->memfd = st_memfd_of_kernel();
    return put_marks(f, w, mounts, err);
}
