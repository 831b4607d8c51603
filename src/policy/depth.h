/* depth: how it is learnt what a container opens: by being asked before every open, or only before those that
 * a rule may refuse.
 *
 * Pure: the rules and the mounts in, a plan out. A plan never makes a verdict milder. Where the objects that
 * a rule may refuse can be listed, and nobody can make more of them unseen, it is enough to be asked about
 * these; everywhere else each open of the mount is asked about. That something is changed or executed is
 * asked about in any case.
 *
 * Reading is refused for good where nobody in the container can write: what could be made there, and read in
 * the same breath, no list would have. Writing is refused by asking before the change, whose path may be
 * another one by the time it happens: so what is on the list is asked about once more, when it is opened. */
#pragma once

#include "base/arena.h"
#include "model/footing.h"
#include "policy/policy.h"
#include "policy/rule.h"

/* What a rule costs, at each of these. */
enum st_cost {
    ST_COST_NOTHING,
    ST_COST_CALLS,   /* changes of files, and syscalls */
    ST_COST_RUNS,    /* executions */
    ST_COST_OBJECTS, /* opens of what it may refuse */
    ST_COST_OPENS    /* opens on a whole mount */
};
const char *st_cost_name(enum st_cost cost);

/* What is asked about on one mount. */
struct st_depth_mount {
    const struct st_footing *at;
    bool listed; /* some of the objects may be there */
    bool every_open;
    const struct st_rule *rule; /* because of this one; NULL: of none alone */
    const char *why;
};

struct st_depth_rule {
    enum st_cost cost;
    const char *everywhere; /* point of a mount of which each open is asked about because of it; or NULL */
    const char *unseen;     /* point of a mount on which it can't be kept from being read; or NULL */
};

struct path_patterns;

/* All that is there and fits is asked about; the list holds until somebody makes something that fits too. */
struct st_depth_object {
    const char *pattern; /* of the rule */
    const char *list;    /* names, `*`, `?`, and a `**` at most in the end: no less than the pattern */
    const struct path_patterns *parsed; /* the pattern; private to src/policy */
};

struct st_depth_plan {
    enum st_depth depth;        /* strict, where no less would be as good as what was asked for: */
    const char *why;            /* NULL: it is what was asked for */
    const struct st_rule *rule; /* or none alone */
    struct st_depth_rule *rules;
    size_t n_rules; /* as many as the policy has */
    struct st_depth_object *objects;
    size_t n_objects;
    struct st_arena strings;
    struct st_depth_mount *mounts;
    size_t n_mounts;
};

struct st_depth_facts {
    enum st_depth asked;
    bool notified; /* changes are asked about before they happen */
    const struct st_footing *mounts;
    size_t n_mounts;
};

/* What is asked for deepens what the policy says, or, where it is not locked, makes it less deep. name NULL
 * or "policy": as the policy says. -EINVAL: no such depth; -EPERM: it is locked. */
int st_depth_choose(const struct st_policy *policy, const char *name, enum st_depth *out,
                    struct st_error *err);

/* The policy and the mounts must outlive the plan. */
void st_depth_plan_make(const struct st_policy *policy, const struct st_depth_facts *facts,
                        struct st_depth_plan *out);
void st_depth_plan_free(struct st_depth_plan *plan);
#define st_auto_depth_plan __attribute__((cleanup(st_depth_plan_free))) struct st_depth_plan

/* What fits could not be listed after all: each open is asked about wherever it reaches. */
void st_depth_plan_widen(struct st_depth_plan *plan, const struct st_depth_object *object, const char *why);

/* Could something that belongs on the list lie at or below this path? Who makes something there makes the
 * list incomplete: each open of that mount is to be asked about before. */
bool st_depth_plan_reaches(const struct st_depth_plan *plan, struct st_str path);
