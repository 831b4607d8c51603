/* process_pace: see process_pace.h. */
#include "monitor/process_pace.h"

#include "base/clock.h"

#define LOOK_NS 5000000LL

static uint64_t least(uint64_t so_far, int64_t value, int64_t limit)
{
    uint64_t left;

    if (limit == ST_UNKNOWN)
        return so_far;
    left = limit > value ? (uint64_t)(limit - value) : 0;
    return left < so_far ? left : so_far;
}

/* Forks that break no limit, whoever makes them: each one makes nothing larger by more than one. What has
 * ended and was not told yet counts still, which is on the safe side. */
static uint64_t forks_left(const struct st_processes *p, int64_t now_ns)
{
    const struct st_process_limits *max = st_policy_process_limits(p->pipeline->policy);
    struct st_tree_counts most;
    uint64_t left = UINT64_MAX;

    st_tree_most(p->tree, now_ns, &most);
    left = least(left, most.depth, max->max_depth);
    left = least(left, most.children, max->max_children);
    left = least(left, most.processes, max->max_processes);
    return least(left, most.forks, max->max_forks);
}

void st_process_pace(struct st_processes *p, bool news)
{
    int64_t now_ns;

    if ((!news && !p->look_ns) || !p->pipeline || !p->pipeline->policy)
        return;
    now_ns = st_now_mono_ns();
    if (!news && now_ns < p->look_ns)
        return;
    if (!news && st_process_stream_sleep(&p->stream)) {
        p->look_ns = 0;
        return;
    }
    p->look_ns = now_ns + LOOK_NS;
    st_process_stream_comes(&p->stream, forks_left(p, now_ns));
}

int64_t st_process_pace_deadline(const struct st_processes *p)
{
    return p->look_ns ? p->look_ns : -1;
}
