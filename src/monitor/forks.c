/* forks: see forks.h. A refused one gets EAGAIN, which is what the kernel says at a limit of its own. */
#include "monitor/forks.h"

#include "model/boundary.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>

static bool wants_namespace(const struct seccomp_data *call)
{
    unsigned bit;

    for (size_t i = 0; call->nr == SYS_clone && (bit = st_namespace_at(i)) != 0; i++)
        if (call->args[0] & bit)
            return true;
    return false;
}

static bool is_thread(const struct seccomp_data *call)
{
    return call->nr == SYS_clone && (call->args[0] & CLONE_THREAD);
}

/* The runtime, on its way into the container. */
static bool sets_up(const struct st_inquiry *q)
{
    return q->filter->setup && st_filter_sets_up(q->filter, st_process_leader((pid_t)q->asked->pid));
}

static void refuse(struct st_inquiry *q, const struct st_tree_counts *counts)
{
    struct st_mutations *m = q->m;

    if (!st_process_read((pid_t)q->asked->pid, &m->members, &m->room) ||
        !st_filter_waits(q->filter, q->asked->id))
        return; /* gone */
    m->who = &m->room.facts;
    st_inquiry_fill(q, ST_EV_PROCESS);
    st_processes_describe(m->processes, counts, &q->ev);
    st_inquiry_judge(q, EAGAIN);
}

bool st_fork_take(struct st_inquiry *q)
{
    struct st_mutations *m = q->m;
    const struct seccomp_data *call = &q->asked->data;
    struct st_tree_counts counts;

    if (!m->processes || call->arch != ST_NATIVE_ARCH || !st_processes_is_fork(call) || wants_namespace(call))
        return false;
    q->ev.type = ST_EV_PROCESS;
    if (m->askings.n > 0 && st_inquiry_settle_again(q))
        return true;
    if (is_thread(call)) {
        st_filter_answer(q->filter, q->asked->id, 0);
    } else if (sets_up(q)) {
        m->setup_uses++;
        st_filter_answer(q->filter, q->asked->id, 0);
    } else if (st_processes_let(m->processes, (pid_t)q->asked->pid, call, &counts)) {
        st_filter_answer(q->filter, q->asked->id, 0);
    } else {
        refuse(q, &counts);
    }
    return true;
}
