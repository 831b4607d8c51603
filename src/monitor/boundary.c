/* boundary: see boundary.h. */
#include "monitor/boundary.h"

#include "policy/rule.h"

#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static bool policy_names(const struct st_policy *policy, const char *name)
{
    const struct st_rule *rules;
    size_t n = st_policy_rules(policy, &rules);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; rules[i].type == ST_RULE_SYSCALL && k < rules[i].n_names; k++)
            if (strcmp(rules[i].names[k], name) == 0)
                return true;
    return false;
}

static bool makes_namespace(const struct seccomp_data *call, unsigned which)
{
    return (call->nr == SYS_clone || call->nr == SYS_unshare) && (call->args[0] & which);
}

static bool gets_around(const struct seccomp_data *call)
{
    unsigned bit;

    for (size_t i = 0; (bit = st_namespace_at(i)) != 0; i++)
        if (makes_namespace(call, bit))
            return true;
    return st_bypass_by_nr(call->nr) != NULL;
}

void st_boundary_take(struct st_inquiry *q)
{
    const struct seccomp_data *call = &q->asked->data;
    const struct st_pipeline *p = q->m->pipeline;
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call->nr);

    snprintf(q->number, sizeof(q->number), "%d", call->nr);
    st_inquiry_fill(q, ST_EV_SYSCALL);
    q->ev.sys.name = st_str(name ? name : q->number);
    if (st_inquiry_settle_again(q))
        ;
    else if (call->arch != ST_NATIVE_ARCH || (call->nr & ST_FOREIGN_NR))
        st_inquiry_refuse(q, "a syscall of another architecture can't be watched");
    else if (p->watch->order.floor && !p->watch->order.landlock_abi && makes_namespace(call, CLONE_NEWUSER))
        st_inquiry_refuse(q, "in a user namespace of its own it could mount the floor away");
    else if (gets_around(call) && !policy_names(p->policy, q->ev.sys.name.p))
        st_inquiry_refuse(q, "it gets around what is watched, and no rule of the policy speaks of it");
    else
        st_inquiry_judge(q, EPERM);
    free(name);
}
