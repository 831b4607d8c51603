/* processes: see processes.h. */
#include "monitor/processes.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "monitor/record.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OVER_NS 1000000000LL /* between records of what is judged too late */
#define GROUP_MAX (1u << 20) /* bytes of cgroup.procs */

/* ---- limits ---- */

static bool is_over(int64_t value, int64_t limit)
{
    return limit != ST_UNKNOWN && value > limit;
}

static bool breaks_limits(const struct st_processes *p, const struct st_tree_counts *c)
{
    const struct st_process_limits *max = st_policy_process_limits(p->pipeline->policy);

    return is_over(c->depth, max->max_depth) || is_over(c->children, max->max_children) ||
           is_over(c->processes, max->max_processes) || is_over(c->forks, max->max_forks);
}

void st_processes_describe(const struct st_processes *p, const struct st_tree_counts *c, struct st_event *ev)
{
    const struct st_process_limits *max = st_policy_process_limits(p->pipeline->policy);

    ev->proc = (struct st_ev_process){.op = is_over(c->depth, max->max_depth) ? ST_PROC_DEPTH_LIMIT
                                                                              : ST_PROC_FORK_LIMIT,
                                      .path = ev->process.exe,
                                      .depth = c->depth,
                                      .children = c->children,
                                      .processes = c->processes,
                                      .forks = c->forks,
                                      .exit_code = ST_UNKNOWN,
                                      .exit_signal = ST_UNKNOWN};
}

/* ---- what the kernel tells ---- */

/* As the book knows it: the process itself may be gone. */
static void fill_process(const struct st_processes *p, pid_t pid, struct st_ancestor *room,
                         struct st_event *ev)
{
    struct st_tree_facts f = {0};
    bool cut = false;

    *ev = (struct st_event){.type = ST_EV_PROCESS, .tier = ST_TIER_KERNEL, .wall_us = st_now_wall_us()};
    st_tree_find(p->tree, pid, &f);
    ev->process = (struct st_process){
        .present = true, .pid = pid, .uid = ST_UNKNOWN, .gid = ST_UNKNOWN, .comm = f.comm, .exe = f.exe};
    ev->process.n_ancestry = st_tree_ancestry(p->tree, pid, room, ST_ANCESTORS, &cut);
    ev->process.ancestry = room;
    ev->process.incomplete = !f.exe.p || (cut && ev->process.n_ancestry < ST_ANCESTORS);
}

static void use(struct st_processes *p, const struct st_event *ev)
{
    struct st_operation none = ST_OPERATION_NONE;

    st_pipeline_use(p->pipeline, ev, &none, st_now_mono_ns());
}

/* Nobody asked: there is nothing left to refuse, so it stands still instead. How many more there were by
 * then, and in audit mode within a second, is said with the next one. */
static void judge_late(struct st_processes *p, const struct st_process_told *told)
{
    bool audit = st_policy_mode(p->pipeline->policy) == ST_MODE_AUDIT;
    struct st_ancestor room[ST_ANCESTORS];
    struct st_operation none = ST_OPERATION_NONE;
    int64_t now_ns = st_now_mono_ns();
    struct st_tree_counts c;
    struct st_verdict v;
    struct st_event ev;

    if (!st_tree_counts_of(p->tree, told->pid, now_ns, &c) || !breaks_limits(p, &c))
        return;
    fill_process(p, told->by_pid, room, &ev);
    st_processes_describe(p, &c, &ev);
    if (st_pipeline_would_let(p->pipeline, &ev, &v))
        return;
    if (p->over++ == 0)
        p->over_first_us = ev.wall_us;
    if (audit ? p->over_recorded_ns && now_ns - p->over_recorded_ns < OVER_NS : p->pipeline->pauses.n > 0)
        return;
    ev.count = p->over;
    ev.first_us = p->over_first_us;
    ev.last_us = ev.wall_us;
    p->over = 0;
    p->over_recorded_ns = now_ns;
    if (v.response == ST_RESPOND_DENY)
        v.response = ST_RESPOND_PAUSE;
    st_pipeline_respond(p->pipeline, &ev, &v, &none, now_ns);
}

static void take_fork(struct st_processes *p, const struct st_process_told *told)
{
    const struct st_tree_fork fork = {.parent = told->parent,
                                      .child = told->pid,
                                      .by_pid = told->by_pid,
                                      .by = told->by,
                                      .start_ns = told->start_ns};
    struct st_tree_facts caller;

    if (!st_tree_forked(p->tree, &fork, st_now_mono_ns()) && st_tree_find(p->tree, told->by_pid, &caller) &&
        caller.ran)
        judge_late(p, told);
}

static void read_exe(struct st_processes *p, pid_t pid)
{
    char link[48], exe[4096];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    n = readlink(link, exe, sizeof(exe));
    if (n > 0)
        st_tree_set_exe(p->tree, pid, (struct st_str){exe, (size_t)n});
}

/* Its number may be used again after that. */
static void note_init(struct st_processes *p, const struct st_process_told *told)
{
    if (told->pid != p->init)
        return;
    p->init = 0;
    p->init_ended = true;
    p->init_status = told->status;
}

bool st_processes_has_run(struct st_processes *p, pid_t pid)
{
    struct st_tree_facts f;

    if (!p || !p->streaming || !p->tree)
        return false;
    do
        st_processes_settle(p);
    while (p->more);
    return p->lost || (st_tree_find(p->tree, pid, &f) && f.ran);
}

bool st_processes_init_status(const struct st_processes *p, int *status)
{
    *status = p->init_status;
    return p->init_ended;
}

static void take_exit(struct st_processes *p, const struct st_process_told *told)
{
    struct st_ancestor room[ST_ANCESTORS];
    struct st_tree_facts f;
    struct st_event ev;

    note_init(p, told);
    /* A runtime on its way in is none of the container's. */
    if (st_tree_find(p->tree, told->pid, &f) && f.ran) {
        fill_process(p, told->pid, room, &ev);
        ev.proc = (struct st_ev_process){.op = ST_PROC_EXIT,
                                         .path = ev.process.exe,
                                         .depth = ST_UNKNOWN,
                                         .children = ST_UNKNOWN,
                                         .processes = ST_UNKNOWN,
                                         .forks = ST_UNKNOWN,
                                         .exit_code = ST_UNKNOWN,
                                         .exit_signal = ST_UNKNOWN};
        if (WIFSIGNALED(told->status))
            ev.proc.exit_signal = WTERMSIG(told->status);
        else
            ev.proc.exit_code = WEXITSTATUS(told->status);
        use(p, &ev);
    }
    st_tree_ended(p->tree, told->pid, told->start_ns);
}

static void take(void *ctx, const struct st_process_told *told)
{
    struct st_processes *p = ctx;

    if (told->kind == ST_NEWS_FORK) {
        take_fork(p, told);
    } else if (told->kind == ST_NEWS_EXEC) {
        if (p->pipeline && p->pipeline->known)
            st_process_cache_forget(p->pipeline->known, told->pid);
        if (!st_tree_ran(p->tree, &(struct st_tree_run){told->pid, told->start_ns, told->comm, told->ino}))
            read_exe(p, told->pid);
    } else if (told->kind == ST_NEWS_EXIT) {
        take_exit(p, told);
    }
}

bool st_processes_all_told(struct st_processes *p)
{
    if (!p || !p->streaming)
        return false;
    st_processes_settle(p);
    return !p->lost && st_bpf_ring_is_empty(&p->stream.ring);
}

void st_processes_will_run(struct st_processes *p, pid_t pid, uint64_t ino, struct st_str path)
{
    st_processes_settle(p);
    if (p->tree)
        st_tree_will_run(p->tree, pid, ino, path);
}

/* ---- counting who is there ---- */

static void adopt(struct st_processes *p, pid_t pid)
{
    pid_t parent = st_process_parent(pid);
    struct st_tree_facts f;

    if (st_tree_find(p->tree, parent, &f))
        st_tree_adopt(p->tree, parent, pid);
    else
        st_tree_is_there(p->tree, pid);
    read_exe(p, pid);
}

static int compare_pids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

/* The book is as the group is. Numbers grow, mostly: parents come before their children. */
static void take_census(struct st_processes *p)
{
    st_auto_buf text = ST_BUF_INIT;
    struct st_error err = {0};
    struct st_tree_facts f;
    pid_t *pids;
    size_t n = 0;
    char *end;

    if (st_read_file_at(p->pipeline->watch->cgroup.dirfd, "cgroup.procs", false, GROUP_MAX, &text, &err) < 0)
        return;
    pids = st_xcalloc(text.len / 2 + 1, sizeof(*pids));
    for (const char *at = st_buf_cstr(&text); *at; at = end) {
        pids[n] = (pid_t)strtol(at, &end, 10);
        if (end == at)
            break;
        while (*end == '\n')
            end++;
        n++;
    }
    qsort(pids, n, sizeof(*pids), compare_pids);
    st_tree_keep_only(p->tree, pids, n);
    for (size_t i = 0; i < n; i++)
        if (!st_tree_find(p->tree, pids[i], &f))
            adopt(p, pids[i]);
    free(pids);
    p->let_since = 0;
}

static void declare_loss(struct st_processes *p, uint64_t lost)
{
    const struct st_decider by = {
        .how = "sensor", .uid = ST_UNKNOWN, .name = "processes", .reason = "news of processes were lost"};
    st_auto_buf payload = ST_BUF_INIT;
    struct st_error err = {0};
    char detail[96];

    snprintf(detail, sizeof(detail), "%llu pieces of news were lost: there were too many at once",
             (unsigned long long)(lost - p->lost));
    p->lost = lost;
    take_census(p);
    st_record_sensor(&payload, "processes", "degraded", detail);
    if (st_pipeline_note(p->pipeline, ST_EV_SENSOR, ST_TIER_KERNEL, payload.data, payload.len, true, &err) <
            0 &&
        p->pipeline->trace_failed)
        p->pipeline->trace_failed(p->pipeline->ctx, &err);
    if (st_policy_mode(p->pipeline->policy) == ST_MODE_ENFORCE)
        st_pipeline_hold(p->pipeline, &by, &err);
}

void st_processes_settle(struct st_processes *p)
{
    uint64_t lost;

    if (!p->streaming)
        return;
    p->more = st_process_stream_read(&p->stream, take, p);
    lost = st_bpf_ring_lost(&p->stream.ring);
    if (lost != p->lost)
        declare_loss(p, lost);
}

/* ---- forks that ask ---- */

bool st_processes_is_fork(const struct seccomp_data *call)
{
#ifdef SYS_fork
    if (call->nr == SYS_fork || call->nr == SYS_vfork)
        return true;
#endif
    return call->nr == SYS_clone;
}

static struct st_tree_caller caller_of(struct st_processes *p, pid_t tid, const struct seccomp_data *call)
{
    struct st_tree_caller who = {.pid = tid, .tid = tid};
    struct st_tree_facts f;

    who.for_parent = call->nr == SYS_clone && (call->args[0] & CLONE_PARENT);
    if (st_tree_find(p->tree, tid, &f))
        return who;
    who.pid = st_process_leader(tid);
    if (who.pid && !st_tree_find(p->tree, who.pid, &f))
        adopt(p, who.pid);
    return who;
}

/* Who was let and did not fork after all (it failed, and the thread is gone) counts no more. */
static void sweep(struct st_processes *p)
{
    pid_t waiting[256];
    size_t n = st_tree_waiting(p->tree, waiting, sizeof(waiting) / sizeof(waiting[0]));

    for (size_t i = 0; i < n; i++)
        if (st_process_leader(waiting[i]) == 0)
            st_tree_let_none(p->tree, waiting[i]);
}

static void count(struct st_processes *p, const struct st_tree_caller *who, struct st_tree_counts *counts)
{
    st_tree_would(p->tree, who, st_now_mono_ns(), counts);
    if (p->streaming)
        return;
    counts->children += (int64_t)p->let_since;
    counts->processes += (int64_t)p->let_since;
}

static void note_let(struct st_processes *p, const struct st_tree_caller *who)
{
    st_tree_let(p->tree, who, st_now_mono_ns());
    if (p->streaming)
        return;
    st_tree_let_none(p->tree, who->tid); /* nobody will tell */
    p->let_since++;
}

bool st_processes_let(struct st_processes *p, pid_t tid, const struct seccomp_data *call,
                      struct st_tree_counts *counts)
{
    struct st_tree_caller who;

    do
        st_processes_settle(p);
    while (p->more);
    who = caller_of(p, tid, call);
    count(p, &who, counts);
    if (breaks_limits(p, counts)) {
        sweep(p);
        if (!p->streaming)
            take_census(p);
        count(p, &who, counts);
    }
    if (breaks_limits(p, counts))
        return false;
    note_let(p, &who);
    return true;
}

void st_processes_approved(struct st_processes *p, pid_t tid, const struct seccomp_data *call)
{
    struct st_tree_caller who;

    if (!p->tree || !st_processes_is_fork(call))
        return;
    who = caller_of(p, tid, call);
    note_let(p, &who);
}

/* ---- beginning and end ---- */

void st_processes_init(struct st_processes *p)
{
    *p = (struct st_processes){.stream = ST_PROCESS_STREAM_NONE};
}

void st_processes_prepare(struct st_processes *p, bool forks_ask, bool polled)
{
    struct st_error err = {0};

    p->tree = st_tree_new(ST_TREE_MAX);
    if (polled)
        st_fail(&err, EOPNOTSUPP, "process_events: polled");
    else
        p->streaming = st_process_stream_open(&p->stream, !forks_ask, &err) == 0;
    if (!p->streaming)
        snprintf(p->detail, sizeof(p->detail), "%.200s%s", err.msg, forks_ask ? "" : "; limits are not held");
}

static int find_group(struct st_processes *p, struct st_watch *w, struct st_error *err)
{
    int group = st_watch_unified(w);

    if (group < 0)
        return st_fail(err, ENOENT, "the container has no control group of version 2 for itself");
    return st_process_stream_watch(&p->stream, group, err);
}

void st_processes_meet(struct st_processes *p, struct st_pipeline *pipeline, struct st_watch *w)
{
    struct st_error err = {0};

    p->pipeline = pipeline;
    if (!p->tree)
        return;
    p->init = w->order.pid;
    st_tree_is_there(p->tree, w->order.pid);
    if (!p->streaming || find_group(p, w, &err) == 0)
        return;
    snprintf(p->detail, sizeof(p->detail), "%.255s", err.msg);
    p->streaming = false;
    st_process_stream_close(&p->stream);
}

static void on_told(void *ctx, uint32_t events)
{
    (void)events;
    st_processes_settle(ctx);
}

int st_processes_attach(struct st_processes *p, struct st_loop *loop, struct st_error *err)
{
    int rc = p->streaming ? st_loop_add(loop, "processes", p->stream.ring.fd, EPOLLIN, on_told, p) : 0;

    return rc < 0 ? st_fail(err, -rc, "watch processes") : 0;
}

void st_processes_end(struct st_processes *p)
{
    st_auto_buf payload = ST_BUF_INIT;
    struct st_error err = {0};
    char detail[80];

    do
        st_processes_settle(p);
    while (p->more);
    if (!p->over)
        return;
    snprintf(detail, sizeof(detail), "%llu more processes were over the limits", (unsigned long long)p->over);
    p->over = 0;
    st_record_sensor(&payload, "processes", "late", detail);
    if (st_pipeline_note(p->pipeline, ST_EV_SENSOR, ST_TIER_KERNEL, payload.data, payload.len, false, &err) <
            0 &&
        p->pipeline->trace_failed)
        p->pipeline->trace_failed(p->pipeline->ctx, &err);
}

void st_processes_close(struct st_processes *p)
{
    st_process_stream_close(&p->stream);
    st_tree_free(p->tree);
    p->tree = NULL;
    p->streaming = false;
}
