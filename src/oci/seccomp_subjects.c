/* seccomp_subjects: see seccomp_subjects.h. */
#include "oci/seccomp_subjects.h"

#include "base/mem.h"
#include "model/boundary.h"
#include "model/mutation.h"
#include "oci/seccomp_rules.h"
#include "oci/seccomp_sockets.h"

#include <errno.h>
#include <string.h>

bool st_seccomp_permits(const char *action)
{
    return strcmp(action, ST_SECCOMP_ALLOW) == 0 || strcmp(action, ST_SECCOMP_LOG) == 0;
}

const char *st_seccomp_action(const struct st_json_node *rule)
{
    const char *action = st_json_str(st_json_get(rule, "action"), NULL);

    return action ? action : "";
}

bool st_seccomp_has_condition(const struct st_json_node *rule)
{
    return st_json_first(st_json_get(rule, "args")) != NULL;
}

bool st_seccomp_names(const struct st_json_node *rule, const char *name)
{
    st_json_each (item, st_json_get(rule, "names")) {
        const char *s = st_json_str(item, NULL);

        if (s && strcmp(s, name) == 0)
            return true;
    }
    return false;
}

int st_seccomp_error(const struct st_json_node *node, const char *key)
{
    int64_t n;

    return st_json_int(st_json_get(node, key), &n) && n > 0 && n < 4096 ? (int)n : EPERM;
}

/* A rule that says what the default says is not in a filter at all: runtimes leave it out. With another errno
 * it says something else. */
static bool is_default(const struct st_seccomp_subjects *all, const struct st_json_node *rule)
{
    const char *action = st_seccomp_action(rule);

    return strcmp(action, all->fallback) == 0 && (strcmp(action, ST_SECCOMP_ERRNO) != 0 ||
                                                  st_seccomp_error(rule, "errnoRet") == all->fallback_error);
}

/* The errno with which the profile refuses it whole; 0: it does not, or not by an errno alone. */
static int refusal_of(const struct st_seccomp_subjects *all, const char *name)
{
    int error = strcmp(all->fallback, ST_SECCOMP_ERRNO) == 0 ? all->fallback_error : 0;
    bool named = false;

    st_json_each (rule, all->rules) {
        if (!st_seccomp_names(rule, name))
            continue;
        if (strcmp(st_seccomp_action(rule), ST_SECCOMP_ERRNO) != 0 || st_seccomp_has_condition(rule))
            return 0;
        if (!named)
            error = st_seccomp_error(rule, "errnoRet");
        named = true;
    }
    return error;
}

static int find_fate(const struct st_seccomp_subjects *all, struct st_seccomp_subject *s,
                     struct st_error *err)
{
    bool refuses = false, allows = false;
    const char *decides = NULL;

    st_json_each (rule, all->rules) {
        const char *action = st_seccomp_action(rule);

        if (!st_seccomp_names(rule, s->name) || is_default(all, rule))
            continue;
        if (st_seccomp_has_condition(rule)) {
            allows |= st_seccomp_permits(action);
            refuses |= !st_seccomp_permits(action);
        } else if (!decides) {
            decides = action;
        }
    }
    s->action = decides ? decides : all->fallback;
    s->fate = st_seccomp_permits(s->action) ? ST_SECCOMP_PERMITTED
              : allows && !decides          ? ST_SECCOMP_BY_ARGUMENTS
                                            : ST_SECCOMP_REFUSED;
    if (s->fate != ST_SECCOMP_PERMITTED || !refuses)
        return 0;
    if (s->optional) {
        s->fate = ST_SECCOMP_BY_ARGUMENTS;
        s->left = true;
        return 0;
    }
    return st_fail(
        err, EINVAL,
        "the seccomp profile refuses %s by its arguments, which can't be kept while %s is watched; "
        "refuse it whole, or leave the condition out",
        s->name, s->name);
}

const struct st_seccomp_subject *st_seccomp_find(const struct st_seccomp_subjects *s, const char *name)
{
    /* Asked about every name that there is: most differ in their first letter. */
    for (size_t i = 0; name && i < s->n; i++)
        if (s->list[i].name[0] == name[0] && strcmp(s->list[i].name, name) == 0)
            return &s->list[i];
    return NULL;
}

bool st_seccomp_is_taken(const struct st_seccomp_subject *subject)
{
    if (!subject || subject->left || subject->fate == ST_SECCOMP_REFUSED)
        return false;
    if (subject->fate == ST_SECCOMP_PERMITTED)
        return true;
    return subject->treatment == ST_SECCOMP_ASK_FAMILY ? subject->ours
                                                       : subject->treatment != ST_SECCOMP_ASK_NAMESPACE;
}

bool st_seccomp_gives_up(const struct st_seccomp_subjects *all, const struct st_json_node *rule,
                         const char *name)
{
    const struct st_seccomp_subject *s = st_seccomp_find(all, name);

    if (st_seccomp_permits(st_seccomp_action(rule)))
        return st_seccomp_is_taken(s);
    /* It stood behind one that permits, and had no say: without that one it would. */
    if (s && s->fate == ST_SECCOMP_PERMITTED && st_seccomp_is_taken(s) && !st_seccomp_has_condition(rule))
        return true;
    return s && (s->forced || (s->ours && s->fate == ST_SECCOMP_BY_ARGUMENTS && st_seccomp_is_taken(s)));
}

static int add(struct st_seccomp_subjects *all, struct st_seccomp_subject subject, struct st_error *err)
{
    struct st_seccomp_subject *s = &all->list[all->n];

    if (st_seccomp_find(all, subject.name))
        return 0;
    *s = subject;
    all->n++;
    return find_fate(all, s, err);
}

static int add_mutation(struct st_seccomp_subjects *all, const struct st_mutation *m, struct st_error *err)
{
    struct st_seccomp_subject s = {.name = m->name, .flags = m->flags > 0 ? (unsigned)m->flags : 0};

    s.treatment = m->flag_kind == ST_MUT_OPEN_FLAGS ? ST_SECCOMP_ASK_BY_FLAGS : ST_SECCOMP_ASK;
    return add(all, s, err);
}

static int add_named(struct st_seccomp_subjects *all, const char *name, bool optional, struct st_error *err)
{
    return add(
        all,
        (struct st_seccomp_subject){
            .name = name, .treatment = ST_SECCOMP_ASK, .optional = optional, .forced = refusal_of(all, name)},
        err);
}

/* "None of these flags", as Docker's profile permits clone(2): the flags; 0: another condition, or more than
 * one, or what it does not cover is not refused by an errno. */
static uint64_t permitted_without(const struct st_seccomp_subjects *all, const char *name)
{
    uint64_t flags = 0;

    if (strcmp(all->fallback, ST_SECCOMP_ERRNO) != 0)
        return 0;
    st_json_each (rule, all->rules) {
        const struct st_json_node *args = st_json_get(rule, "args"), *one = st_json_first(args);
        const char *op = st_json_str(st_json_get(one, "op"), NULL);
        int64_t index, mask, value = 0;

        if (!st_seccomp_names(rule, name))
            continue;
        if (flags || !st_seccomp_permits(st_seccomp_action(rule)) || st_json_count(args) != 1 || !op ||
            strcmp(op, "SCMP_CMP_MASKED_EQ") != 0 || !st_json_int(st_json_get(one, "index"), &index) ||
            index != 0 || !st_json_int(st_json_get(one, "value"), &mask) || mask <= 0)
            return 0;
        if (st_json_get(one, "valueTwo") && !st_json_int(st_json_get(one, "valueTwo"), &value))
            return 0;
        if (value != 0)
            return 0;
        flags = (uint64_t)mask;
    }
    return flags;
}

/* Left as the profile has it: what it decides by arguments that are not ours; and sockets where 32 bits stay,
 * which have all of socket(2) in one call: it can't be let by and asked about at once. */
static void leave(const struct st_seccomp_subjects *all, struct st_seccomp_subject *s, bool observe)
{
    if (s->fate == ST_SECCOMP_BY_ARGUMENTS && s->treatment == ST_SECCOMP_ASK_NAMESPACE)
        s->none_of = permitted_without(all, s->name);
    if (s->fate == ST_SECCOMP_BY_ARGUMENTS)
        s->left = !st_seccomp_is_taken(s) && !s->none_of;
    if (s->treatment == ST_SECCOMP_ASK_FAMILY)
        s->left |= observe && !st_seccomp_permits(all->fallback);
}

static int add_boundary(struct st_seccomp_subjects *all, const struct st_boundary *b, bool observe,
                        struct st_error *err)
{
    struct st_seccomp_subject s = {.name = b->name, .optional = observe || !b->bypass};
    int rc;

    if (b->quiet != ST_QUIET_FAMILY && b->quiet != ST_QUIET_NO_SPACE)
        return add_named(all, b->name, s.optional, err);
    s.treatment = b->quiet == ST_QUIET_FAMILY ? ST_SECCOMP_ASK_FAMILY : ST_SECCOMP_ASK_NAMESPACE;
    if (s.treatment == ST_SECCOMP_ASK_NAMESPACE)
        s.forced = refusal_of(all, b->name);
    else
        s.ours = st_seccomp_knows_sockets(all, &s.but);
    rc = add(all, s, err);
    if (rc == 0 && all->list[all->n - 1].name == b->name)
        leave(all, &all->list[all->n - 1], observe);
    return rc;
}

/* What a policy names is asked about whatever its arguments are, so before the rows that look at them. */
int st_seccomp_gather(struct st_seccomp_subjects *all, const struct st_oci_seccomp *plan,
                      struct st_error *err)
{
    static const char *const hiding[] = {"openat2", "clone3"};
    static const struct {
        const char *name;
        enum st_seccomp_treatment treatment;
    } forks[] = {{"fork", ST_SECCOMP_ASK}, {"vfork", ST_SECCOMP_ASK}, {"clone", ST_SECCOMP_ASK_FORK}};
    const struct st_mutation *m;
    const struct st_boundary *b;
    size_t n = 0;
    int rc = 0;

    while (st_mutation_at(n))
        n++;
    n += plan->n_notify + ST_BOUNDARIES_MAX + sizeof(hiding) / sizeof(hiding[0]) +
         sizeof(forks) / sizeof(forks[0]);
    all->list = st_xcalloc(n, sizeof(*all->list));
    for (size_t i = 0; rc == 0 && !plan->observe && (m = st_mutation_at(i)); i++)
        rc = add_mutation(all, m, err);
    for (size_t i = 0; rc == 0 && i < plan->n_notify; i++)
        rc = add_named(all, plan->notify[i], plan->observe, err);
    for (size_t i = 0; rc == 0 && plan->forks && i < sizeof(forks) / sizeof(forks[0]); i++)
        rc = add(all, (struct st_seccomp_subject){.name = forks[i].name, .treatment = forks[i].treatment},
                 err);
    for (size_t i = 0; rc == 0 && (b = st_boundary_at(i)); i++)
        rc = add_boundary(all, b, plan->observe, err);
    for (size_t i = 0; rc == 0 && !plan->observe && i < sizeof(hiding) / sizeof(hiding[0]); i++)
        rc = add(all, (struct st_seccomp_subject){.name = hiding[i], .treatment = ST_SECCOMP_NO_SUCH}, err);
    return rc;
}
