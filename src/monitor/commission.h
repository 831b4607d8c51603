/* commission: works an errand out of a request that was approved: which call, on which directories, with
 * which numbers; and whether the floor stands in its way. */
#pragma once

#include "monitor/errand.h"
#include "monitor/order.h"
#include "sensors/request.h"
#include "sensors/resolve.h"

#include <stdbool.h>

struct st_commission {
    const struct seccomp_data *call;
    pid_t tid;
    const struct st_request *request;
    struct st_resolved *object, *target;
    struct st_own_mounts *writable; /* mounts that were seen to be */
};

/* Would the floor refuse it? What is read-only for another reason is not our affair. */
bool st_commission_on_floor(const struct st_commission *c, const struct st_order *order);

/* base: a directory's fd that the caller closes, or -1. -EOPNOTSUPP: of a kind that only the task can do. */
int st_commission_make(const struct st_commission *c, const struct st_order *order, struct st_errand *e,
                       int fds[ST_ERRAND_FDS], int *base);
