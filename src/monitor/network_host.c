/* network_host: a container in the network of the machine is told from all others by its control group. What
 * the rules need for that, and what must not be where they are to hold. See network.h. */
#include "monitor/network_private.h"

#include "sensors/sock_end.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_QUEUE 0x4000 /* people use small numbers */
#define QUEUES 0x4000
#define TRIES 64

static int refuse_grant(const struct st_network *n, const struct st_order_network *o, struct st_error *err)
{
    return st_fail(
        err, EPERM,
        "the container shares the host's network and is granted CAP_NET_%s, with which it could %s, "
        "and policy '%s' limits connections; take it away (docker: --cap-drop NET_%s), or give the "
        "container a network of its own",
        o->net_admin ? "ADMIN" : "RAW",
        o->net_admin ? "change that network" : "send what no rule of its control group sees",
        st_policy_name(n->pipeline->policy), o->net_admin ? "ADMIN" : "RAW");
}

int st_network_meet_host(struct st_network *n, const struct st_watch *w, bool limited, struct st_error *err)
{
    if (limited && w->order.network.net_raw) /* CAP_NET_ADMIN counts as that too */
        return refuse_grant(n, &w->order.network, err);
    if (!w->group.level) {
        if (limited)
            return st_fail(
                err, ENOENT,
                "the container shares the host's network, and host_network: cgroup needs a cgroup2 "
                "group of its own: %s",
                w->no_group);
        snprintf(n->detail, sizeof(n->detail), "the container shares the host's network: not watched: %s",
                 w->no_group);
        return 1;
    }
    n->order.group = w->group;
    n->by_group = true;
    return 0;
}

int st_network_bind_queue(struct st_network *n, struct st_error *err)
{
    struct st_error attempt = {0};
    uint16_t random;
    int rc = -EBUSY;

    if (!n->by_group)
        return st_nfqueue_bind(n->queue_fd, n->order.queue, !n->enforce, err);
    /* Whoever has a number already, or had it and left rules behind, is not met again. */
    for (int i = 0; i < TRIES && (rc == -EBUSY || rc == -EPERM || rc == -EEXIST); i++) {
        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
            return st_fail_errno(err, "a random number");
        n->order.queue = (uint16_t)(FIRST_QUEUE + random % QUEUES);
        rc = st_nfqueue_bind(n->queue_fd, n->order.queue, !n->enforce, &attempt);
    }
    return rc < 0 ? st_fail(err, -rc, "%s", attempt.msg) : 0;
}

/* What was opened may come to its end: it was approved. Nothing is, where the one who knew is lost. */
static bool is_open(void *ctx, const struct st_flow_tuple *flow)
{
    const struct st_network *n = ctx;
    const struct st_flow_tuple back = st_flow_tuple_reversed(flow);
    const struct st_flow_entry *e = st_flow_book_find(n->book, flow);

    if (!e)
        e = st_flow_book_find(n->book, &back);
    return e && e->stage == ST_FLOW_OPEN;
}

void st_network_end_sockets(struct st_network *n)
{
    if (n->by_group && n->diag_fd >= 0)
        st_sock_end(n->diag_fd, n->pipeline->watch->group.id, n->inherited ? NULL : is_open, n);
}
