/* network_callers: who makes a connection: noted in the kernel as it is made, or else looked for among the
 * open files of the container's processes while somebody waits. See network.h. */
#include "monitor/network_private.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <string.h>

#define LOOKS_A_SECOND 20000

static bool stays_inside(const struct st_destination *d)
{
    static const uint8_t six[16] = {[15] = 1};

    if (d->host)
        return strcmp(d->host, "localhost") == 0;
    return d->addr.family == 4
               ? d->addr.bytes[0] == 127 && d->bits >= 8
               : d->addr.family == 6 && d->bits == 128 && memcmp(d->addr.bytes, six, sizeof(six)) == 0;
}

/* Can anything leave? */
static bool lets_out(const struct st_network *n)
{
    const struct st_rule *rules;
    size_t count = st_policy_rules(n->pipeline->policy, &rules);

    if (st_policy_defaults(n->pipeline->policy)->egress == ST_ALLOW)
        return true;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0;
             rules[i].type == ST_RULE_EGRESS && rules[i].action == ST_ALLOW && k < rules[i].n_dests; k++)
            if (!stays_inside(&rules[i].dests[k]))
                return true;
    return false;
}

void st_network_meet_callers(struct st_network *n, const struct st_watch *w)
{
    int group = st_watch_unified(w);
    struct st_error err = {0}; /* then the news of each flow are heard at once, and its owner is looked for */

    if (group >= 0 && !n->by_group && n->share.keeper && lets_out(n))
        st_callers_open(&n->callers, group, &err);
}

/* Whoever has thousands of files open makes each question dear: so much of a second goes into it, and no
 * more. */
static bool may_look(struct st_network *n)
{
    int64_t now = st_network_now_ms();

    if (now - n->looked_ms >= 1000) {
        n->looked_ms = now;
        n->looked = 0;
    }
    return n->looked < LOOKS_A_SECOND;
}

void st_network_attribute(struct st_network *n, struct st_event *ev, const struct st_flow_tuple *t)
{
    struct st_sock_owner owner = {.uid = -1, .incomplete = true};
    const struct st_process_facts *facts = NULL;

    if (st_callers_find(&n->callers, t, &owner.pid, &owner.uid)) {
        owner.incomplete = false;
    } else if (may_look(n)) {
        st_sock_owner_of(n->owners, t, 0, &owner);
        n->looked += owner.looked;
    }
    if (owner.pid && n->pipeline->known)
        facts = st_process_cached(n->pipeline->known, owner.pid, owner.uid < 0 ? ST_UNKNOWN : owner.uid,
                                  st_now_mono_ns());
    if (facts) {
        ev->process = facts->process;
        ev->process.incomplete |= owner.incomplete;
        return;
    }
    ev->process = (struct st_process){.present = true,
                                      .incomplete = true,
                                      .pid = owner.pid,
                                      .uid = owner.uid < 0 ? ST_UNKNOWN : owner.uid,
                                      .gid = ST_UNKNOWN};
}
