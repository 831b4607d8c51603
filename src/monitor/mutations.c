/* mutations: see mutations.h. */
#include "monitor/mutations.h"

#include "base/clock.h"
#include "model/boundary.h"
#include "monitor/boundary.h"
#include "monitor/forks.h"
#include "monitor/inquiry.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* ---- answering ---- */

static void rest(struct st_mutations *m)
{
    m->resting = true;
    st_loop_remove(m->loop, st_notify_fd(m->notify));
}

static void work_again(struct st_mutations *m);

/* The call gets this for an answer; where nobody waits it is kept for when it is asked again. */
static void conclude(struct st_mutations *m, struct st_asking *a, int error)
{
    int rc = error ? st_filter_answer(a->filter, a->id, error) : st_filter_return(a->filter, a->id, 0);

    a->state = ST_ASKING_DONE;
    a->error = error;
    if (rc == -ENOENT)
        st_askings_keep(&m->askings, a);
    else
        st_askings_forget(&m->askings, a);
}

/* It returns this fd. What nobody waits for any more is done again when it is asked again. What it has no
 * room for it is told: the kernel lets it wait on. */
static bool is_handed_in(struct st_mutations *m, struct st_asking *a, int fd, bool cloexec)
{
    int rc = st_filter_give_fd(a->filter, a->id, fd, cloexec);

    if (rc == -ENOENT) {
        a->state = ST_ASKING_ALLOWED;
        st_askings_keep(&m->askings, a);
    } else if (rc < 0) {
        conclude(m, a, -rc);
    }
    return rc == 0;
}

/* What is going to be made may be one that is asked about by itself. */
static int make_room(struct st_mutations *m)
{
    enum st_mutation_kind kind = m->request.what->kind;
    bool two = kind == ST_MUT_RENAME || kind == ST_MUT_LINK;
    bool one = kind == ST_MUT_CREATE || (kind == ST_MUT_OPEN && !m->object.there) ||
               (kind == ST_MUT_RENAME && (m->request.flags & RENAME_EXCHANGE));
    int rc = 0;

    if (one)
        rc = st_depth_watch_makes(m->depth, st_resolved_path(&m->object), m->object.parent);
    if (rc == 0 && two)
        rc = st_depth_watch_makes(m->depth, st_resolved_path(&m->target), m->target.parent);
    return rc;
}

/* Mounts that nobody knows of have no list. */
static bool may_bring_mounts(const struct seccomp_data *call)
{
    const struct st_boundary *row = st_boundary_by_nr(call->nr);

    return row && (row->bypass || ((call->nr == SYS_clone || call->nr == SYS_unshare) &&
                                   (call->args[0] & st_namespace_bypass())));
}

static bool is_made_room(struct st_mutations *m, struct st_asking *a)
{
    struct st_error err = {0};
    int rc = 0;

    if (m->depth && st_mutation_by_nr(a->call.nr))
        rc = m->resolved ? make_room(m) : 0;
    else if (m->depth && may_bring_mounts(&a->call))
        rc = st_depth_watch_widen(m->depth, "it was let do what may bring other mounts", &err);
    if (rc < 0)
        conclude(m, a, -rc);
    return rc == 0;
}

/* It was permitted, and the kernel would refuse it all the same: it is made here, and handed in. */
static bool is_made_here(struct st_mutations *m, struct st_asking *a)
{
    st_auto_fd fd = -1;

    if (m->memfd != ST_MEMFD_DATA || a->call.arch != ST_NATIVE_ARCH || a->call.nr != SYS_memfd_create ||
        !st_memfd_makes_program(a->call.args[1], false))
        return false;
    fd = st_memfd_make(a->tid, &a->call);
    if (fd < 0)
        return false;
    if (is_handed_in(m, a, fd, a->call.args[1] & MFD_CLOEXEC))
        st_askings_forget(&m->askings, a);
    return true;
}

/* Let the task make the call itself. */
static void let_go_on(struct st_mutations *m, struct st_asking *a)
{
    if (!is_made_room(m, a) || is_made_here(m, a))
        return;
    if (m->depth && m->resolved && m->request.what->kind == ST_MUT_OPEN && !m->object.there)
        st_depth_watch_expect(m->depth, &m->object);
    if (m->opening)
        st_opened_judge(&m->opened, a->tid, &(struct st_event){.fs = *m->opening});
    if (m->processes)
        st_processes_approved(m->processes, a->tid, &a->call);
    st_filter_answer(a->filter, a->id, 0);
    st_askings_forget(&m->askings, a);
}

/* What a performer brought. */
static void on_done(void *ctx, void *what, int error, int fd)
{
    struct st_mutations *m = ctx;
    struct st_asking *a = what;

    if (fd < 0) {
        conclude(m, a, error);
    } else if (is_handed_in(m, a, fd, a->cloexec)) {
        if (a->path)
            st_opened_hand_in(&m->opened, fd, a->path, a->path_len);
        st_askings_forget(&m->askings, a);
    }
    st_close(&fd);
    work_again(m);
}

static struct st_commission commission_of(struct st_mutations *m, const struct st_asking *a)
{
    return (struct st_commission){&a->call, a->tid, &m->request, &m->object, &m->target, &m->writable};
}

/* Done on the task's behalf: what was approved is what is done, and the floor does not stand in its way. What
 * only the task itself can do it does itself. object and target must be those of this asking. */
static void carry_out(struct st_mutations *m, struct st_asking *a)
{
    const struct st_commission c = commission_of(m, a);
    struct st_errand *e = &m->errand;
    int fds[ST_ERRAND_FDS];
    st_auto_fd base = -1;
    int rc = st_mutation_by_nr(a->call.nr) ? st_commission_make(&c, &m->pipeline->watch->order, e, fds, &base)
                                           : -EOPNOTSUPP;

    if (rc == -EOPNOTSUPP) {
        let_go_on(m, a);
        return;
    }
    if (!is_made_room(m, a))
        return;
    a->cloexec = e->kind == ST_ERRAND_OPEN && (e->flags & O_CLOEXEC);
    a->state = ST_ASKING_BUSY;
    st_askings_keep(&m->askings, a);
    if (rc == 0)
        rc = st_hands_send(&m->hands, e, fds, a);
    if (rc < 0)
        conclude(m, a, -rc);
}

static bool take(void *ctx, struct st_filter *f, const struct seccomp_notif *asked);

/* A person decided. Approved: what is asked is looked at again, as if it had been asked just now. */
static void answer_late(struct st_mutations *m, struct st_asking *a, bool allow)
{
    struct seccomp_notif again = {.id = a->id, .pid = (uint32_t)a->tid, .data = a->call};

    if (!allow) {
        conclude(m, a, a->error);
    } else {
        a->state = ST_ASKING_ALLOWED;
        if (st_filter_waits(a->filter, a->id))
            take(m, a->filter, &again);
    }
    work_again(m);
}

static void answer(void *ctx, struct st_operation *op, bool allow)
{
    struct st_mutations *m = ctx;
    struct st_asking *a = (struct st_asking *)(uintptr_t)op->token;
    struct st_commission c;

    if (!st_mutation_by_nr(a->call.nr))
        st_syscalls_count(&m->syscalls, a->call.nr, allow);
    if (a != m->current) {
        answer_late(m, a, allow);
        return;
    }
    m->current = NULL;
    c = commission_of(m, a);
    if (!allow)
        conclude(m, a, a->error);
    else if (m->resolved && st_commission_on_floor(&c, &m->pipeline->watch->order))
        carry_out(m, a); /* a rule, or a person for the rest of this run, allows what the floor does not */
    else
        let_go_on(m, a);
}

/* ---- judging ---- */

void st_inquiry_fill(struct st_inquiry *q, enum st_event_type type)
{
    q->ev = (struct st_event){
        .type = type, .tier = ST_TIER_KERNEL, .wall_us = st_now_wall_us(), .process = q->m->who->process};
}

void st_inquiry_look_closer(struct st_inquiry *q)
{
    struct st_mutations *m = q->m;

    if (m->who == &m->room.facts)
        return;
    q->looked = true;
    if (!st_process_read((pid_t)q->asked->pid, &m->members, &m->room))
        return;
    m->who = &m->room.facts;
    q->ev.process = m->who->process;
}

static struct st_operation ask_for(struct st_inquiry *q, int error)
{
    struct st_asking *a = st_asking_new(q->filter, q->asked);

    a->error = error;
    st_asking_describe(a, &q->ev);
    q->m->current = a;
    return (struct st_operation){.answerer = answer, .ctx = q->m, .fd = -1, .token = (uint64_t)(uintptr_t)a};
}

/* What was not answered by now is held. */
static void keep_if_held(struct st_mutations *m)
{
    if (!m->current)
        return;
    m->current->state = ST_ASKING_WAITS;
    st_askings_keep(&m->askings, m->current);
    m->current = NULL;
    if (st_askings_full(&m->askings))
        rest(m);
}

void st_inquiry_judge(struct st_inquiry *q, int error)
{
    struct st_operation op = ask_for(q, error);

    st_pipeline_use(q->m->pipeline, &q->ev, &op, q->seen_ns);
    keep_if_held(q->m);
}

void st_inquiry_refuse(struct st_inquiry *q, const char *reason)
{
    struct st_operation op = ask_for(q, EPERM);

    st_pipeline_refuse(q->m->pipeline, &q->ev, &op, reason);
    keep_if_held(q->m);
}

void st_inquiry_respond(struct st_inquiry *q, struct st_verdict *v, int error)
{
    struct st_operation op = ask_for(q, error);

    st_pipeline_respond(q->m->pipeline, &q->ev, v, &op, q->seen_ns);
    keep_if_held(q->m);
}

bool st_inquiry_settle_again(struct st_inquiry *q)
{
    struct st_askings *all = &q->m->askings;

    for (struct st_asking *a = st_askings_find(all, q->asked, NULL); a;
         a = st_askings_find(all, q->asked, a)) {
        if (!st_asking_is_about(a, &q->ev))
            continue;
        a->id = q->asked->id;
        if (a->state == ST_ASKING_ALLOWED)
            carry_out(q->m, a);
        else if (a->state == ST_ASKING_DONE)
            conclude(q->m, a, a->error);
        return true;
    }
    return false;
}

/* ---- mutations ---- */

static void take_change(struct st_inquiry *q)
{
    struct st_mutations *m = q->m;
    struct st_verdict unused;

    /* What was read belongs to the asker only if it still waits. */
    if (!st_filter_waits(q->filter, q->asked->id))
        return;
    if (q->change.is == ST_CHANGE_NOTHING) {
        st_filter_answer(q->filter, q->asked->id, 0);
        return;
    }
    if (q->change.is == ST_CHANGE_ERROR) {
        m->plain_errors++;
        st_filter_answer(q->filter, q->asked->id, q->change.error);
        return;
    }
    st_inquiry_fill(q, ST_EV_FILESYSTEM);
    q->ev.fs = q->change.fs;
    if (m->request.what->kind == ST_MUT_OPEN)
        m->opening = &q->change.fs;
    if (m->guards)
        st_guards_name(m->guards, &q->ev);
    if (st_inquiry_settle_again(q))
        return;
    if (!st_pipeline_would_let(m->pipeline, &q->ev, &unused))
        st_inquiry_look_closer(q);
    st_inquiry_judge(q, EACCES);
}

/* An fd that we handed in is known by its object. That it may be written was approved: its size is part of
 * that.
 */
static void know_handed(struct st_inquiry *q)
{
    struct st_ev_filesystem *fs = &q->change.fs;
    struct st_str path = st_opened_path(&q->m->opened, fs->dev, fs->ino);

    if (!q->m->object.foreign || !path.p)
        return;
    fs->path = path;
    q->change.is = fs->op == ST_FS_MODIFY ? ST_CHANGE_NOTHING : ST_CHANGE_EVENT;
}

static void take_mutation(struct st_inquiry *q)
{
    struct st_mutations *m = q->m;
    pid_t tid = (pid_t)q->asked->pid;
    const struct st_resolver who = {tid, m->who->leader, m->who->process.container_pid, &m->kept};
    int rc = st_request_decode(&q->asked->data, st_memory_of_task, &tid, &m->request);

    if (rc < 0)
        q->change = (struct st_change){.is = ST_CHANGE_ERROR, .error = -rc};
    else
        st_change_find(&m->request, &who, &m->object, &m->target, &q->change);
    m->resolved = rc == 0;
    if (rc == 0 && q->change.is == ST_CHANGE_UNKNOWN)
        know_handed(q);
    take_change(q);
    m->resolved = false;
    m->opening = NULL;
    if (rc == 0) {
        st_resolved_close(&m->object);
        st_resolved_close(&m->target);
    }
}

/* What is kept will do where the policy does not ask. NULL: it is gone. */
static const struct st_process_facts *find_caller(struct st_mutations *m, struct st_inquiry *q)
{
    pid_t tid = (pid_t)q->asked->pid;
    const struct st_process_facts *kept;

    q->looked = true;
    m->kept.task = -1;
    if (!st_policy_asks_who(m->pipeline->policy)) {
        if (st_processes_are_settled(m->processes))
            st_process_cache_told(m->pipeline->known, q->seen_ns);
        kept = st_process_cached(m->pipeline->known, tid, ST_UNKNOWN, q->seen_ns);
        m->kept.task = st_process_cache_folder(m->pipeline->known, tid);
        q->looked = !st_process_cache_knew(m->pipeline->known, tid, q->seen_ns);
        return kept;
    }
    return st_process_read(tid, &m->members, &m->room) ? &m->room.facts : NULL;
}

/* Also where its first program has become the runtime's own, before anything was asked. */
static void end_setup(const struct st_mutations *m, struct st_filter *f)
{
    if (f->setup && f->pid && st_processes_has_run(m->processes, f->pid))
        f->setup = false;
}

static bool take(void *ctx, struct st_filter *f, const struct seccomp_notif *asked)
{
    struct st_mutations *m = ctx;
    struct st_inquiry q = {.m = m, .filter = f, .asked = asked, .seen_ns = st_now_mono_ns()};
    bool change = asked->data.arch == ST_NATIVE_ARCH && st_mutation_by_nr(asked->data.nr);

    bool sets_up;

    end_setup(m, f);
    if (m->depth)
        st_depth_watch_find(m->depth);
    if (st_fork_take(&q))
        return !m->resting;
    sets_up = st_filter_sets_up_by(f, (pid_t)asked->pid);
    if (!sets_up && !(m->who = find_caller(m, &q)))
        return true; /* gone */
    if (sets_up || st_filter_sets_up(f, m->who->leader)) {
        m->setup_uses++;
        st_filter_answer(f, asked->id, st_boundary_of_setup(m, &asked->data));
    } else if (change) {
        take_mutation(&q);
    } else {
        st_boundary_take(&q);
    }
    return !m->resting;
}

/* ---- the sensor ---- */

static void on_ready(void *ctx, uint32_t events)
{
    struct st_mutations *m = ctx;

    (void)events;
    st_notify_work(m->notify);
}

int st_mutations_eager(const struct st_mutations *m)
{
    return m->notify && !m->resting ? st_notify_eager(m->notify) : -1;
}

void st_mutations_work_eager(struct st_mutations *m, short events)
{
    st_notify_work_eager(m->notify, events);
}

static void on_hands(void *ctx, uint32_t events)
{
    struct st_mutations *m = ctx;

    (void)events;
    st_hands_work(&m->hands);
}

static void work_again(struct st_mutations *m)
{
    if (!m->resting || st_askings_full(&m->askings))
        return;
    m->resting = st_loop_add(m->loop, "mutations", st_notify_fd(m->notify), EPOLLIN, on_ready, m) < 0;
}

int st_mutations_open(struct st_mutations *m, struct st_pipeline *p, struct st_watch *w, struct st_error *err)
{
    m->pipeline = p;
    m->kept.task = -1;
    m->kept.fds = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (m->kept.fds < 0)
        return st_fail_errno(err, "/proc/self/fd");
    st_watch_members(w, &m->members);
    st_syscalls_init(&m->syscalls, &w->order);
    if (st_hands_open(&m->hands, w->errands, on_done, m, err) < 0)
        return -err->errnum;
    if (st_notify_open(w->order.listener, w->order.listener_fd, take, m, &m->notify, err) < 0)
        return -err->errnum;
    st_notify_expect(m->notify, w->order.pid);
    return 0;
}

int st_mutations_attach(struct st_mutations *m, struct st_loop *loop, struct st_error *err)
{
    int rc = st_loop_add(loop, "mutations", st_notify_fd(m->notify), EPOLLIN, on_ready, m);

    m->loop = loop;
    if (rc == 0)
        rc = st_loop_add(loop, "performers", m->hands.epfd, EPOLLIN, on_hands, m);
    return rc < 0 ? st_fail(err, -rc, "watch seccomp notifications") : 0;
}

void st_mutations_close(struct st_mutations *m)
{
    if (m->notify)
        st_close(&m->kept.fds);
    st_notify_close(m->notify);
    m->notify = NULL;
    if (m->depth)
        st_depth_watch_close(m->depth); /* nobody will ask for a change any more */
    st_askings_clear(&m->askings);
    st_opened_free(&m->opened);
    st_buf_free(&m->args);
}
