/* eval: one decision. Pure: the same snapshot, event and counters give the same verdict and the same
 * counters. */
#include "policy/judge.h"

#include <stdlib.h>

struct outcome st_outcome_of(const struct judge *j, uint32_t rule, enum st_result fallback)
{
    struct outcome o = {.rule = rule < j->generic ? rule : j->generic, .why = WHY_RULE};
    const struct rule_brief *r;

    if (o.rule == NO_RULE) {
        o.why = WHY_DEFAULT;
        o.result = fallback;
        o.severity = fallback == ST_ALLOW ? ST_SEV_NONE : j->p->settings.defaults.severity;
        return o;
    }
    r = &j->p->brief[o.rule];
    o.result = (enum st_result)r->action;
    o.severity = r->action == ST_ALLOW ? ST_SEV_NONE : (enum st_severity)r->severity;
    if (r->type == ST_RULE_THRESHOLD || r->type == ST_RULE_SEQUENCE) {
        o.why = r->type == ST_RULE_THRESHOLD ? WHY_THRESHOLD : WHY_SEQUENCE;
        o.value = j->value;
        o.limit = j->p->rules[o.rule].threshold.limit;
    }
    return o;
}

struct outcome st_worse_outcome(struct outcome a, struct outcome b)
{
    if ((a.result == ST_ALLOW) != (b.result == ST_ALLOW))
        return a.result == ST_ALLOW ? b : a;
    if (a.severity != b.severity)
        return a.severity > b.severity ? a : b;
    return a.rule <= b.rule ? a : b;
}

static bool is_judged(enum st_event_type type)
{
    switch (type) {
    case ST_EV_FILESYSTEM:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS:
    case ST_EV_DNS_QUERY:
    case ST_EV_PROCESS:
    case ST_EV_SYSCALL: return true;
    case ST_EV_LIFECYCLE:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: return false;
    }
    return false;
}

static struct outcome judge_event(struct judge *j)
{
    if (!is_judged(j->e->type))
        return (struct outcome){.rule = NO_RULE, .why = WHY_NOT_JUDGED};
    if (j->e->type == ST_EV_FILESYSTEM_SUMMARY)
        return st_judge_summary(j); /* which is many events */
    st_judge_generic(j);
    if (j->e->type == ST_EV_FILESYSTEM)
        return st_judge_filesystem(j);
    if (j->e->type == ST_EV_PROCESS)
        return st_judge_process(j);
    if (j->e->type == ST_EV_DNS_QUERY)
        return st_judge_dns(j);
    if (j->e->type == ST_EV_SYSCALL)
        return st_judge_syscall(j);
    return st_judge_network(j);
}

/* What is by a setting has that for a rule. */
static struct st_str setting_of(enum why why)
{
    switch (why) {
    case WHY_DEPTH:
    case WHY_CHILDREN:
    case WHY_PROCESSES:
    case WHY_FORKS: return ST_STR_LIT("process_limits");
    case WHY_NEW: return ST_STR_LIT("exec_of_new");
    case WHY_DELETED: return ST_STR_LIT("exec_of_deleted");
    case WHY_MEMFD: return ST_STR_LIT("exec_of_memfd");
    case WHY_RULE:
    case WHY_DEFAULT:
    case WHY_METADATA:
    case WHY_PER_CALL:
    case WHY_TOTAL:
    case WHY_THRESHOLD:
    case WHY_SEQUENCE:
    case WHY_UNHASHED:
    case WHY_BAD_PATH:
    case WHY_NOT_JUDGED: break;
    }
    return (struct st_str){NULL, 0};
}

static void give_verdict(struct judge *j, const struct outcome *o, struct st_verdict *v)
{
    const struct rule_brief *rule = o->rule < j->p->n_rules ? &j->p->brief[o->rule] : NULL;
    bool record_only = j->p->settings.mode == ST_MODE_AUDIT || (rule && rule->audit_only);

    *v = (struct st_verdict){
        .result = o->result,
        .severity = o->severity,
        .response = o->result == ST_ALLOW || record_only ? ST_RESPOND_RECORD
                                                         : j->p->settings.on_violation[o->severity],
        .rule = rule ? rule->id : setting_of(o->why),
        .reason = st_reason_for(j, o),
        .policy_sha256 = j->p->sha256,
    };
}

static struct outcome evaluate(struct judge *j, struct st_verdict *verdict)
{
    struct outcome o;

    /* Counters of another table would be read beyond their end: better no verdict at all. */
    if (j->c->policy != policy_owner(j->p))
        abort();
    if (j->e->wall_us > j->c->now_us)
        j->c->now_us = j->e->wall_us;
    o = judge_event(j);
    give_verdict(j, &o, verdict);
    return o;
}

void st_policy_eval(const struct st_policy *policy, struct st_counters *counters,
                    const struct st_event *event, struct st_verdict *verdict)
{
    struct judge j = {.p = policy, .c = counters, .e = event, .generic = NO_RULE};

    evaluate(&j, verdict);
}

void st_policy_explain(const struct st_policy *policy, struct st_counters *counters,
                       const struct st_event *event, struct st_verdict *verdict, struct st_explanation *out)
{
    struct judge j = {.p = policy, .c = counters, .e = event, .generic = NO_RULE};
    struct outcome o;

    *out = (struct st_explanation){.n_notes = policy->n_rules};
    out->notes = j.notes = st_xcalloc(policy->n_rules + 1, sizeof(*j.notes));
    o = evaluate(&j, verdict);
    out->decided = o.rule < policy->n_rules ? o.rule : ST_NO_RULE;
}

void st_explanation_free(struct st_explanation *x)
{
    free(x->notes);
    *x = (struct st_explanation){0};
}
