/* worker_meet: one that was started ahead of its container waits until that is named, and does meanwhile what
 * can be done without it. The warden's end is the end of the wait. */
#include "monitor/link.h"
#include "monitor/worker_private.h"

#include <errno.h>
#include <poll.h>

static bool may_scout(const struct st_worker *w)
{
    const struct st_order *o = &w->watch->order;

    return !w->loss && !st_watch_has_met(w->watch) && o->network.made && o->network.watch &&
           !o->network.outside && !o->light && !o->polled_processes;
}

void st_worker_scout(struct st_worker *w)
{
    struct st_error blind = {0};

    if (may_scout(w))
        (void)st_scout_open(&w->scout, w->watch->runtime, &blind);
}

/* What goes wrong here is done again when the container is met, and said then. */
static void scout(struct st_worker *w)
{
    struct st_error err = {0};
    st_auto_fd ns = st_scout_network(&w->scout);

    if (ns < 0)
        return;
    st_scout_close(&w->scout);
    (void)st_network_open_ahead(&w->network, &w->pipeline, w->watch, ns, &err);
}

/* The container is named. Until then the scout is looked at. */
static void await_word(struct st_worker *w, bool prepared)
{
    for (;;) {
        struct pollfd p[] = {{.fd = w->link, .events = POLLIN},
                             {.fd = prepared ? st_scout_fd(&w->scout) : -1, .events = POLLIN}};
        int rc = poll(p, 2, -1);

        if (rc < 0 && errno == EINTR)
            continue;
        if (rc < 0 || p[0].revents)
            return;
        scout(w);
    }
}

int st_worker_meet(struct st_worker *w, bool prepared, struct st_error *err)
{
    struct st_link_message m;

    if (st_watch_has_met(w->watch))
        return 0;
    await_word(w, prepared);
    st_scout_close(&w->scout);
    if (st_link_receive(w->link, &m) != 1 || m.kind != ST_LINK_MEET)
        return st_fail(err, ESRCH, "there is no container");
    return st_watch_meet(w->watch, (pid_t)m.value, err);
}
