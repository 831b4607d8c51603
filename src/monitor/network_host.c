/* network_host: a container in the network of the machine is told from all others by its control group. What
 * the rules need for that, and what must not be where they are to hold. See network.h. */
#include "monitor/network_private.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#define FIRST_QUEUE 0x4000 /* people use small numbers */
#define QUEUES 0x4000
#define TRIES 64
#define FIRST_CGROUP_NAMESPACE 0xEFFFFFFBU /* its inode, on every machine */

static uint32_t level_of(const char *path)
{
    uint32_t level = 0;

    for (; *path; path++)
        level += *path == '/' && path[1] && path[1] != '/';
    return level;
}

/* Levels are counted from the root that the kernel sees, which need not be ours. */
static int check_namespace(struct st_error *err)
{
    struct stat sb;

    if (stat("/proc/self/ns/cgroup", &sb) == 0 && sb.st_ino != FIRST_CGROUP_NAMESPACE)
        return st_fail(err, EPERM, "we run in a cgroup namespace: the container's place can't be told");
    return 0;
}

static int find_group(struct st_network *n, const struct st_watch *w, struct st_error *err)
{
    st_auto_cgroup group = ST_CGROUP_NONE;
    struct stat sb;

    if (check_namespace(err) < 0 || st_cgroup_open(w->order.pid, ST_CGROUP_ONLY_V2, &group, err) < 0)
        return -err->errnum;
    if (fstat(group.dirfd, &sb) < 0)
        return st_fail_errno(err, "control group %s", group.path);
    n->order.group = (struct st_ruleset_group){.level = level_of(group.path), .id = sb.st_ino};
    return 0;
}

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
    struct st_error why = {0};

    if (limited && w->order.network.net_raw) /* CAP_NET_ADMIN counts as that too */
        return refuse_grant(n, &w->order.network, err);
    if (find_group(n, w, &why) < 0) {
        if (limited)
            return st_fail(
                err, why.errnum,
                "the container shares the host's network, and host_network: cgroup needs a cgroup2 "
                "group of its own: %s",
                why.msg);
        snprintf(n->detail, sizeof(n->detail), "the container shares the host's network: not watched: %.300s",
                 why.msg);
        return 1;
    }
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
