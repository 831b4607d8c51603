/* entrance: see entrance.h. Each is refused to a whole container in the same way, when it starts. */
#include "monitor/entrance.h"

#include "model/caps.h"

#include <stdio.h>

static bool may_have(const struct st_worker *w, unsigned cap)
{
    const struct st_order *o = &w->watch->order;

    switch (cap) {
    case ST_CAP_NET_ADMIN:
        return o->network.net_admin || o->network.let_net_admin || !st_network_limits(&w->network);
    case ST_CAP_NET_RAW: return o->network.net_raw || !st_network_limits(&w->network);
    case ST_CAP_SYS_ADMIN: return !o->floor || o->landlock_abi;
    default: return true;
    }
}

static const char *harm(unsigned cap)
{
    switch (cap) {
    case ST_CAP_NET_ADMIN: return "it could leave the network that the policy limits";
    case ST_CAP_NET_RAW: return "it could answer for the resolvers that the policy's names come from";
    default: return "it could mount the policy's floor away";
    }
}

bool st_entrance_let(const struct st_worker *w, unsigned grants, char *reason, size_t size)
{
    for (unsigned cap = 1; cap <= ST_CAPS_ALL; cap <<= 1) {
        if (!(grants & cap) || may_have(w, cap))
            continue;
        snprintf(
            reason, size,
            "the process is granted %s (privileged?), which %.240s itself is not: with it %s; enter without",
            st_cap_name(cap), w->watch->order.id, harm(cap));
        return false;
    }
    return true;
}
