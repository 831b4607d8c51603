/* boundary: see boundary.h. */
#include "monitor/boundary.h"

#include "model/boundary.h"
#include "monitor/memfd.h"
#include "policy/rule.h"
#include "sensors/boundary_args.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

static bool is_foreign(const struct seccomp_data *call)
{
    return call->arch != ST_NATIVE_ARCH || (call->nr & ST_FOREIGN_NR);
}

static bool makes_namespace(const struct seccomp_data *call, unsigned which)
{
    return (call->nr == SYS_clone || call->nr == SYS_unshare) && (call->args[0] & which);
}

/* A socket of vsock leads past every network, one of XDP past all rules of one. In the host's network rules
 * see what is IP and has a socket of the container's: the kernel sends for RDS by one of its own, and what
 * else a machine speaks (CAN, Bluetooth, TIPC …) meets none. */
static bool leads_out(const struct st_watch *w, const struct seccomp_data *call)
{
    uint32_t family = (uint32_t)call->args[0];

    if (call->nr != SYS_socket)
        return false;
    if (family == AF_VSOCK || family == AF_XDP)
        return true;
    return st_watch_by_group(w) && !st_family_is_usual(family) && family != AF_NETLINK && family != AF_ALG;
}

/* Why it is refused whatever the policy says; NULL: it says. */
static const char *objection(const struct st_inquiry *q, const struct st_boundary *row)
{
    const struct seccomp_data *call = &q->asked->data;
    const struct st_pipeline *p = q->m->pipeline;
    bool around = (row && row->bypass) || makes_namespace(call, st_namespace_bypass());

    if (st_policy_mode(p->policy) == ST_MODE_AUDIT)
        return NULL;
    if (is_foreign(call))
        return "a syscall of another architecture can't be watched";
    if (p->watch->order.floor && !p->watch->order.landlock_abi && makes_namespace(call, CLONE_NEWUSER))
        return "in a user namespace of its own it could mount the floor away";
    if (leads_out(p->watch, call))
        return "no rule of a network sees what such a socket sends";
    if (around && !policy_names(p->policy, q->ev.sys.name.p))
        return "it gets around what is watched, and no rule of the policy speaks of it";
    return NULL;
}

static ssize_t look(void *ctx, uint64_t address, void *out, size_t n)
{
    struct st_inquiry *q = ctx;
    pid_t tid = (pid_t)q->asked->pid;

    q->looked = true;
    return st_memory_of_task(&tid, address, out, n);
}

/* Where the kernel could make none and was not told to, what does not say that it is no program may become
 * one. But programs use such files all day: only where none may run they are taken for what they could be,
 * and never where they could not say it. */
static bool may_become_program(const struct st_inquiry *q, const struct seccomp_data *call)
{
    const struct st_policy *policy = q->m->pipeline->policy;
    bool by_default = q->m->memfd == ST_MEMFD_EITHER && st_policy_mode(policy) == ST_MODE_ENFORCE &&
                      st_policy_exec_of(policy)->memfd == ST_DENY;

    return st_memfd_makes_program(call->args[1], by_default);
}

/* Is it about a program that is in memory only? name: of the one that it runs. */
static bool is_of_memory(struct st_inquiry *q, const struct st_boundary *row, char name[ST_MEMFD_NAME])
{
    const struct seccomp_data *call = &q->asked->data;

    if (!row || (row->quiet != ST_QUIET_DATA && row->quiet != ST_QUIET_NAMED))
        return false;
    if (row->quiet == ST_QUIET_DATA)
        return may_become_program(q, call);
    if (st_boundary_is_quiet(row, call, ST_UNKNOWN, ST_UNKNOWN))
        return false;
    q->looked = true;
    return st_memfd_is_open((pid_t)q->asked->pid, (int)call->args[0], name);
}

static void describe(struct st_inquiry *q, const struct st_boundary *row, const char *name,
                     const char *program)
{
    const struct seccomp_data *call = &q->asked->data;

    if (!name)
        snprintf(q->number, sizeof(q->number), "%d", call->nr);
    st_inquiry_fill(q, ST_EV_SYSCALL);
    q->ev.sys.name = st_str(name ? name : q->number);
    if (!row)
        return;
    st_buf_clear(&q->m->args);
    st_boundary_decode(row, call, look, q, &q->m->args);
    if (*program)
        st_boundary_add_text(&q->m->args, "program", program, strlen(program));
    q->ev.sys.args = (struct st_str){.p = q->m->args.data, .len = q->m->args.len};
    q->ev.sys.capability = st_str(st_boundary_capability(row, call));
}

/* The container's own profile refuses it, and would have whoever watches: it is only told of. How grave that
 * is, the policy may say. */
static void refuse_as_profile(struct st_inquiry *q, int error)
{
    struct st_verdict v = {0};

    if (st_pipeline_would_let(q->m->pipeline, &q->ev, &v)) {
        v.rule = (struct st_str){0};
        v.severity = ST_SEV_LOW;
    }
    v.result = ST_DENY;
    v.response = ST_RESPOND_DENY;
    v.reason = ST_STR_LIT("the container's own seccomp profile refuses it");
    st_inquiry_respond(q, &v, error);
}

/* Memory that was not asked for as a program: nothing that ordinary programs do stops a container. */
static void refuse_without_pause(struct st_inquiry *q, struct st_verdict *v)
{
    if (v->response > ST_RESPOND_DENY)
        v->response = ST_RESPOND_DENY;
    st_inquiry_respond(q, v, EACCES);
}

/* As the kernel refuses a program in memory, where that is what it is refused for. */
static void judge_memory(struct st_inquiry *q)
{
    const struct seccomp_data *call = &q->asked->data;
    struct st_verdict v = {0};
    bool let = st_pipeline_would_let(q->m->pipeline, &q->ev, &v);
    bool for_memory =
        !let && v.rule.len == strlen("exec_of_memfd") && memcmp(v.rule.p, "exec_of_memfd", v.rule.len) == 0;

    if (for_memory && call->nr == SYS_memfd_create && !st_memfd_makes_program(call->args[1], false))
        refuse_without_pause(q, &v);
    else
        st_inquiry_judge(q, for_memory ? EACCES : EPERM);
}

/* What was read belongs to the asker only if it still waits. Registers came with the question, and what was
 * known before it of who asks is no truer for its waiting: where there was nothing else, the answer tells. */
static void judge(struct st_inquiry *q, const struct st_boundary *row, int refusal)
{
    const char *why = objection(q, row);
    struct st_verdict v;

    if (refusal || why || !st_pipeline_would_let(q->m->pipeline, &q->ev, &v))
        st_inquiry_look_closer(q);
    if ((q->looked && !st_filter_waits(q->filter, q->asked->id)) || st_inquiry_settle_again(q))
        return;
    if (refusal)
        refuse_as_profile(q, refusal);
    else if (why)
        st_inquiry_refuse(q, why);
    else if (q->ev.sys.memfd)
        judge_memory(q);
    else
        st_inquiry_judge(q, EPERM);
}

static bool is_quiet(const struct st_inquiry *q, const struct st_boundary *row, bool of_memory)
{
    const struct st_process *p = &q->m->who->process;
    bool quiet;

    if (!row || of_memory)
        return false;
    quiet = row->quiet == ST_QUIET_NAMED || st_boundary_is_quiet(row, &q->asked->data, p->uid, p->gid);
    return quiet && !policy_names(q->m->pipeline->policy, row->name);
}

/* In libseccomp's words an architecture is what the kernel calls it, but for x32, which has none there. */
static char *name_of(const struct seccomp_data *call)
{
    return seccomp_syscall_resolve_num_arch(call->nr & ST_FOREIGN_NR ? SCMP_ARCH_X32 : call->arch, call->nr);
}

/* The kernel looks at 32 bits of each. */
static int refusal_of_socket(const struct st_order *order, const struct seccomp_data *call)
{
    for (size_t i = 0; i < order->n_sockets; i++) {
        const struct st_order_socket *s = &order->sockets[i];

        if (s->family == (uint32_t)call->args[0] &&
            (s->protocol < 0 || s->protocol == (uint32_t)call->args[2]))
            return s->error;
    }
    return 0;
}

/* A call of another architecture is refused by its name; one without a name can't be in any rule. */
static int refusal_of(const struct st_mutations *m, const struct seccomp_data *call)
{
    char *name = is_foreign(call) ? name_of(call) : NULL;
    int error = st_syscalls_refusal(&m->syscalls, name ? seccomp_syscall_resolve_name(name) : call->nr,
                                    call->args[0]);

    free(name);
    if (!error && !is_foreign(call) && call->nr == SYS_socket)
        error = refusal_of_socket(&m->pipeline->watch->order, call);
    return error;
}

void st_boundary_take(struct st_inquiry *q)
{
    const struct seccomp_data *call = &q->asked->data;
    const struct st_boundary *row = is_foreign(call) ? NULL : st_boundary_by_nr(call->nr);
    int refusal = refusal_of(q->m, call);
    char program[ST_MEMFD_NAME] = "";
    bool of_memory = is_of_memory(q, row, program);

    if (!refusal && is_quiet(q, row, of_memory)) {
        st_syscalls_count(&q->m->syscalls, call->nr, true);
        st_filter_answer(q->filter, q->asked->id, 0);
    } else {
        char *name = row ? NULL : name_of(call);

        describe(q, row, row ? row->name : name, program);
        q->ev.sys.memfd = of_memory;
        judge(q, row, refusal);
        free(name);
    }
    if (row && (row->quiet == ST_QUIET_NOT_ROOT || row->quiet == ST_QUIET_NOT_WHEEL))
        st_process_cache_forget(q->m->pipeline->known, (pid_t)q->asked->pid);
}

int st_boundary_of_setup(const struct st_mutations *m, const struct seccomp_data *call)
{
    return refusal_of(m, call);
}
