/* worker_warden: what goes to the warden and comes from it, and what is done where it is gone. See worker.h.
 */
#include "monitor/link.h"
#include "monitor/worker_private.h"
#include "respond/freezer.h"
#include "respond/kill.h"

#include <errno.h>
#include <stdio.h>

#define ALONE_NS 1000000000LL

void st_worker_end_container(struct st_worker *w)
{
    w->stop.reason = "killed by policy or person";
    if (w->warden_lost)
        st_kill_container(&w->watch->cgroup, w->watch->life.pidfd, ALONE_NS);
    else
        st_link_send(w->link, ST_LINK_KILL, 0, NULL);
}

void st_worker_kill(void *ctx, const struct st_violation *why)
{
    struct st_worker *w = ctx;

    if (!st_quarantine_before_kill(w, why))
        st_worker_end_container(w);
}

/* Alone: freeze with our own hands, record, kill what our uid may kill. What can't be killed stays frozen. */
static void on_warden_lost(struct st_worker *w)
{
    w->warden_lost = true;
    st_loop_remove(&w->loop, w->link);
    st_network_cut(&w->network);
    if (w->watch->can_freeze) {
        st_freezer_ask(&w->watch->cgroup);
        st_freezer_confirm(&w->watch->cgroup, w->watch->fan, ALONE_NS);
    }
    st_worker_record_sensor(w, "warden", "lost", "the container was frozen");
    if (w->watch->order.on_failure == ST_FAIL_KILL)
        st_kill_container(&w->watch->cgroup, w->watch->life.pidfd, ALONE_NS);
}

void st_worker_on_link(void *ctx, uint32_t events)
{
    struct st_worker *w = ctx;
    struct st_link_message m;
    int rc = st_link_receive(w->link, &m);
    char detail[64];

    (void)events;
    if (rc == -EAGAIN)
        return;
    if (rc != 1) {
        on_warden_lost(w);
        return;
    }
    if (m.kind == ST_LINK_STALLED) {
        snprintf(detail, sizeof(detail), "stood still for %lld ms, container frozen", (long long)m.value);
        st_worker_record_sensor(w, "worker", "stalled", detail);
    }
}
