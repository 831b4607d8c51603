/* worker_meet: one that was started ahead of its container waits until that is named, and does meanwhile what
 * can be done without it. The warden's end is the end of the wait. */
#include "monitor/link.h"
#include "monitor/scout.h"
#include "monitor/worker_private.h"

#include <errno.h>
#include <poll.h>

#define SCOUT_MS 3
#define SCOUT_TRIES 100

static bool may_scout(const struct st_worker *w)
{
    const struct st_order *o = &w->watch->order;

    return o->network.made && o->network.watch && !o->network.outside && !o->light &&
           w->scouted < SCOUT_TRIES;
}

/* What goes wrong here is done again when the container is met, and said then. */
static void scout(struct st_worker *w)
{
    struct st_error err = {0};
    st_auto_fd ns = st_scout_network(w->watch->runtime);

    w->scouted = ns < 0 ? w->scouted + 1 : SCOUT_TRIES;
    if (ns < 0)
        return;
    (void)st_network_open_ahead(&w->network, &w->pipeline, w->watch, ns, &err);
}

static bool is_told(const struct st_worker *w, int timeout_ms)
{
    struct pollfd p = {.fd = w->link, .events = POLLIN};
    int rc;

    do
        rc = poll(&p, 1, timeout_ms);
    while (rc < 0 && errno == EINTR);
    return rc != 0;
}

int st_worker_meet(struct st_worker *w, bool prepared, struct st_error *err)
{
    struct st_link_message m;

    if (st_watch_has_met(w->watch))
        return 0;
    while (!is_told(w, prepared && may_scout(w) ? SCOUT_MS : -1))
        scout(w);
    if (st_link_receive(w->link, &m) != 1 || m.kind != ST_LINK_MEET)
        return st_fail(err, ESRCH, "there is no container");
    return st_watch_meet(w->watch, (pid_t)m.value, err);
}
