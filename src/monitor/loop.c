/* loop: see loop.h. */
#include "monitor/loop.h"

#include "base/clock.h"
#include "base/idle.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>

#define EAGER_TURNS 8
#define POLLS_AFTER_MISS 8

void st_loop_init(struct st_loop *l, int epfd, struct st_pulse *pulse)
{
    *l = (struct st_loop){.epfd = epfd, .pulse = pulse, .last = -1};
}

int st_loop_add(struct st_loop *l, const char *name, int fd, uint32_t events, st_loop_handler run, void *ctx)
{
    for (uint32_t i = 0; i < ST_LOOP_MAX; i++) {
        struct st_loop_slot *slot = &l->slots[i];
        uint32_t generation = slot->generation + 1;
        struct epoll_event ev = {.events = events, .data.u64 = (uint64_t)generation << 32 | i};

        if (slot->name)
            continue;
        if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, fd, &ev) < 0)
            return -errno;
        *slot = (struct st_loop_slot){name, generation, fd, run, ctx};
        return 0;
    }
    return -ENOSPC;
}

void st_loop_remove(struct st_loop *l, int fd)
{
    for (uint32_t i = 0; i < ST_LOOP_MAX; i++) {
        if (!l->slots[i].name || l->slots[i].fd != fd)
            continue;
        epoll_ctl(l->epfd, EPOLL_CTL_DEL, fd, NULL);
        l->slots[i] = (struct st_loop_slot){.generation = l->slots[i].generation};
    }
}

void st_loop_change(struct st_loop *l, int fd, uint32_t events)
{
    for (uint32_t i = 0; i < ST_LOOP_MAX; i++) {
        const struct st_loop_slot *slot = &l->slots[i];
        struct epoll_event ev = {.events = events, .data.u64 = (uint64_t)slot->generation << 32 | i};

        if (slot->name && slot->fd == fd)
            epoll_ctl(l->epfd, EPOLL_CTL_MOD, fd, &ev);
    }
}

ST_IDLE_CODE static int64_t earliest(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

ST_IDLE_CODE static bool is_due(int64_t at)
{
    return at >= 0 && at <= st_now_mono_ns();
}

ST_IDLE_CODE static int wait_ms(int64_t at)
{
    int64_t left;

    if (at < 0)
        return -1;
    left = (at - st_now_mono_ns() + 999999) / 1000000;
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static void run_handlers(struct st_loop *l, const struct epoll_event *events, int n)
{
    for (int i = 0; i < n && !l->quit; i++) {
        uint32_t index = (uint32_t)events[i].data.u64;
        struct st_loop_slot *slot = &l->slots[index];

        /* An earlier handler of this round may have removed it, or given its place to another. */
        if (!slot->name || slot->generation != events[i].data.u64 >> 32)
            continue;
        atomic_store(&l->pulse->handler, index);
        l->last = slot->fd;
        slot->run(slot->ctx, events[i].events);
    }
}

/* Who runs on our CPU asks again while we still do what is to be done after its last question: then it waits
 * when we come back, and need not be asked about. Once that was wrong some are. */
ST_IDLE_CODE static bool is_tried(struct st_loop_turn *t, const struct st_loop_eager *who, bool after_work)
{
    t->unasked = false;
    if (!after_work || !who->may_fail || t->in_row + 1 >= EAGER_TURNS)
        return false;
    if (t->polls > 0) {
        t->polls--;
        return false;
    }
    t->unasked = true;
    return true;
}

/* Whoever is eager has its turn at once, and all others after some of these. epoll's fd is readable for the
 * eager one as well: it does not tell whether there is something else. */
ST_IDLE_CODE static int wait_with_eager(struct st_loop *l, struct epoll_event *events, int max, int timeout,
                                        bool after_work)
{
    const struct st_loop_eager who = l->eager(l->deadline_ctx, l->last);
    struct pollfd fds[] = {{.fd = who.fd, .events = POLLIN}, {.fd = l->epfd, .events = POLLIN}};
    struct st_loop_turn *t = &l->turn;
    int n;

    t->fd = who.fd;
    t->events = 0;
    if (who.fd < 0)
        return epoll_wait(l->epfd, events, max, timeout);
    if (is_tried(t, &who, after_work)) {
        t->events = POLLIN;
        t->in_row++;
        return 0;
    }
    n = poll(fds, 2, timeout);
    if (n <= 0)
        return n;
    t->events = fds[0].revents;
    if (t->events && ++t->in_row < EAGER_TURNS)
        return 0;
    t->in_row = 0;
    return epoll_wait(l->epfd, events, max, 0);
}

static void run_eager(struct st_loop *l)
{
    struct st_loop_turn *t = &l->turn;

    l->last = t->fd;
    if (!l->on_eager(l->deadline_ctx, t->fd, t->events) && t->unasked)
        t->polls = POLLS_AFTER_MISS;
}

/* After on_quiet nothing is run but upkeep and the wait: what runs must come back into memory. What is due,
 * but for upkeep, is asked for once: only work changes it. */
ST_IDLE_CODE static int wait_for_events(struct st_loop *l, struct epoll_event *events, int max)
{
    int64_t due = l->deadline ? l->deadline(l->deadline_ctx) : -1;
    int64_t rest = l->on_quiet ? st_now_mono_ns() + l->quiet_ms * INT64_C(1000000) : -1;
    bool rests = false, after_work = true;

    l->turn.events = 0;
    for (;;) {
        int64_t upkeep = l->upkeep ? l->upkeep(l->deadline_ctx) : -1;
        int n, timeout;

        if (is_due(upkeep)) {
            l->on_upkeep(l->deadline_ctx);
            upkeep = l->upkeep(l->deadline_ctx);
        }
        timeout = wait_ms(earliest(earliest(due, rest), upkeep));
        n = l->eager && !rests ? wait_with_eager(l, events, max, timeout, after_work)
                               : epoll_wait(l->epfd, events, max, timeout);
        after_work = false;
        if (n != 0 || l->turn.events || is_due(due))
            return n;
        if (is_due(rest)) {
            l->on_quiet(l->deadline_ctx);
            rests = true;
            rest = -1;
        }
    }
}

ST_IDLE_CODE int st_loop_run(struct st_loop *l)
{
    struct epoll_event events[16];

    while (!l->quit) {
        int n = wait_for_events(l, events, sizeof(events) / sizeof(events[0]));

        if (n < 0 && errno != EINTR)
            return -errno;
        atomic_store(&l->pulse->busy, 1);
        atomic_fetch_add(&l->pulse->beats, 1);
        if (l->before_round)
            l->before_round(l->deadline_ctx);
        if (l->turn.events)
            run_eager(l);
        if (n > 0)
            run_handlers(l, events, n);
        if (l->deadline && is_due(l->deadline(l->deadline_ctx)))
            l->on_deadline(l->deadline_ctx);
        if (l->after_round)
            l->after_round(l->deadline_ctx);
        atomic_store(&l->pulse->busy, 0);
    }
    return 0;
}
