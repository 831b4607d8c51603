#include "sensors/netfilter/netns.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <sched.h>

int st_netns_visit(int ns_fd, int (*visit)(void *ctx, struct st_error *err), void *ctx, struct st_error *err)
{
    st_auto_fd home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int rc;

    if (home < 0)
        return st_fail_errno(err, "own network namespace");
    if (setns(ns_fd, CLONE_NEWNET) < 0)
        return st_fail_errno(err, "enter the network namespace");
    rc = visit(ctx, err);
    if (setns(home, CLONE_NEWNET) < 0)
        abort();
    return rc;
}
