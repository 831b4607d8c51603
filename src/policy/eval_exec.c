/* eval_exec: programs that are run, and limits of processes. */
#include "policy/judge.h"

/* ---- programs ---- */

/* The first rule that names the content. One that could not be read may be any that a rule refuses, and none
 * that a rule allows. */
static uint32_t rule_by_hash(const struct judge *j, const struct st_program *program)
{
    if (program->unhashed)
        return j->p->hashes.first_deny;
    return st_hashmatch_first(&j->p->hashes, program->sha256);
}

static enum why odd(const struct st_exec_of *of, const struct st_program *program)
{
    if (program->memfd && of->memfd == ST_DENY)
        return WHY_MEMFD;
    if (program->deleted && !program->memfd && of->deleted == ST_DENY)
        return WHY_DELETED;
    return program->is_new && of->new_file == ST_DENY ? WHY_NEW : WHY_RULE;
}

struct outcome st_judge_program(struct judge *j, struct st_str path, const struct st_program *program)
{
    struct outcome o = st_judge_path(j, path, ST_ACCESS_EXEC);
    uint32_t rule = rule_by_hash(j, program);
    enum why why;

    note(j, rule, NOTE_MATCHED, 0);
    if (rule < o.rule) {
        struct outcome by_hash = st_outcome_of(j, rule, o.result);

        by_hash.access = o.access;
        by_hash.subject = o.subject;
        if (program->unhashed)
            by_hash.why = WHY_UNHASHED;
        return by_hash; /* who names the content knows what it is, wherever it comes from */
    }
    why = odd(&j->p->settings.exec_of, program);
    if (why == WHY_RULE || o.result != ST_ALLOW)
        return o;
    return (struct outcome){.result = ST_DENY,
                            .severity = j->p->settings.defaults.severity,
                            .rule = NO_RULE,
                            .why = why,
                            .access = o.access,
                            .subject = o.subject};
}

struct outcome st_judge_memory(const struct judge *j, struct outcome o)
{
    if (!j->e->sys.memfd || o.result != ST_ALLOW || j->p->settings.exec_of.memfd != ST_DENY)
        return o;
    return (struct outcome){
        .result = ST_DENY, .severity = j->p->settings.defaults.severity, .rule = NO_RULE, .why = WHY_MEMFD};
}

/* ---- limits ---- */

static struct outcome over_limit(enum why why, int64_t value, int64_t limit)
{
    return (struct outcome){.result = ST_DENY,
                            .severity = ST_SEV_HIGH,
                            .rule = NO_RULE,
                            .why = why,
                            .value = (double)value,
                            .limit = (double)limit};
}

static bool is_over(int64_t value, int64_t limit)
{
    return value != ST_UNKNOWN && limit != ST_UNKNOWN && value > limit;
}

struct outcome st_judge_process(struct judge *j)
{
    const struct st_process_limits *max = &j->p->settings.limits;
    const struct st_ev_process *proc = &j->e->proc;
    struct outcome o = st_outcome_of(j, NO_RULE, ST_ALLOW);

    if (proc->op == ST_PROC_EXIT)
        return o; /* an end is nothing that could be refused */
    if (proc->op == ST_PROC_EXEC) {
        o = st_judge_program(j, proc->path, &proc->program);
        if (proc->interpreter.p)
            o = st_worse_outcome(o, st_judge_path(j, proc->interpreter, ST_ACCESS_EXEC));
    }
    if (is_over(proc->depth, max->max_depth))
        o = st_worse_outcome(o, over_limit(WHY_DEPTH, proc->depth, max->max_depth));
    if (is_over(proc->children, max->max_children))
        o = st_worse_outcome(o, over_limit(WHY_CHILDREN, proc->children, max->max_children));
    if (is_over(proc->processes, max->max_processes))
        o = st_worse_outcome(o, over_limit(WHY_PROCESSES, proc->processes, max->max_processes));
    if (is_over(proc->forks, max->max_forks))
        o = st_worse_outcome(o, over_limit(WHY_FORKS, proc->forks, max->max_forks));
    return o;
}
