/* seccomp_subjects: see seccomp_subjects.h. */
#include "oci/seccomp_subjects.h"

#include "base/mem.h"
#include "model/mutation.h"
#include "oci/seccomp_rules.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

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

static int find_fate(const struct st_seccomp_subjects *all, struct st_seccomp_subject *s,
                     struct st_error *err)
{
    bool refuses = false, allows = false;
    const char *decides = NULL;

    st_json_each (rule, all->rules) {
        const char *action = st_seccomp_action(rule);

        if (strcmp(action, all->fallback) == 0 || !st_seccomp_names(rule, s->name))
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
    return st_fail(
        err, EINVAL,
        "the seccomp profile refuses %s by its arguments, which can't be kept while %s is watched; "
        "refuse it whole, or leave the condition out",
        s->name, s->name);
}

const struct st_seccomp_subject *st_seccomp_find(const struct st_seccomp_subjects *s, const char *name)
{
    for (size_t i = 0; name && i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0)
            return &s->list[i];
    return NULL;
}

bool st_seccomp_is_taken(const struct st_seccomp_subject *subject)
{
    if (!subject || subject->fate == ST_SECCOMP_REFUSED)
        return false;
    if (subject->fate == ST_SECCOMP_PERMITTED)
        return true;
    return subject->treatment == ST_SECCOMP_NO_WAY_OUT ? subject->ours
                                                       : subject->treatment != ST_SECCOMP_ASK_NAMESPACE;
}

static int64_t number_of(const struct st_json_node *condition, const char *key)
{
    int64_t n;

    return st_json_int(st_json_get(condition, key), &n) ? n : -1;
}

/* "Any family but vsock", as docker's profile has it. */
static bool is_no_vsock(const struct st_json_node *rule)
{
    const struct st_json_node *args = st_json_get(rule, "args"), *one = st_json_first(args);
    const char *op = st_json_str(st_json_get(one, "op"), NULL);

    return st_json_count(args) == 1 && number_of(one, "index") == 0 && number_of(one, "value") == AF_VSOCK &&
           op && strcmp(op, "SCMP_CMP_NE") == 0;
}

static bool gives_way(const struct st_seccomp_subjects *all, const char *name)
{
    st_json_each (rule, all->rules)
        if (st_seccomp_names(rule, name) && st_seccomp_permits(st_seccomp_action(rule)) && !is_no_vsock(rule))
            return false;
    return true;
}

static int add(struct st_seccomp_subjects *all, const char *name, enum st_seccomp_treatment treatment,
               int flags, struct st_error *err)
{
    struct st_seccomp_subject *s = &all->list[all->n];

    if (st_seccomp_find(all, name))
        return 0;
    *s = (struct st_seccomp_subject){.name = name, .treatment = treatment};
    s->flags = flags > 0 ? (unsigned)flags : 0;
    s->ours = treatment == ST_SECCOMP_NO_WAY_OUT && gives_way(all, name);
    all->n++;
    return find_fate(all, s, err);
}

int st_seccomp_gather(struct st_seccomp_subjects *all, const struct st_oci_seccomp *plan,
                      struct st_error *err)
{
    static const struct {
        const char *name;
        enum st_seccomp_treatment treatment;
    } others[] = {{"openat2", ST_SECCOMP_NO_SUCH},
                  {"clone3", ST_SECCOMP_NO_SUCH},
                  {"clone", ST_SECCOMP_ASK_NAMESPACE},
                  {"unshare", ST_SECCOMP_ASK_NAMESPACE},
                  {"socket", ST_SECCOMP_NO_WAY_OUT}},
      forks[] = {{"fork", ST_SECCOMP_ASK}, {"vfork", ST_SECCOMP_ASK}, {"clone", ST_SECCOMP_ASK_FORK}};
    const struct st_mutation *m;
    size_t n = 0;
    int rc = 0;

    while (st_mutation_at(n))
        n++;
    n += plan->n_notify + sizeof(others) / sizeof(others[0]) + sizeof(forks) / sizeof(forks[0]);
    all->list = st_xcalloc(n, sizeof(*all->list));
    for (size_t i = 0; rc == 0 && (m = st_mutation_at(i)); i++)
        rc = add(all, m->name, m->flag_kind == ST_MUT_OPEN_FLAGS ? ST_SECCOMP_ASK_BY_FLAGS : ST_SECCOMP_ASK,
                 m->flags, err);
    for (size_t i = 0; rc == 0 && i < plan->n_notify; i++)
        rc = add(all, plan->notify[i], ST_SECCOMP_ASK, 0, err);
    for (size_t i = 0; rc == 0 && plan->forks && i < sizeof(forks) / sizeof(forks[0]); i++)
        rc = add(all, forks[i].name, forks[i].treatment, 0, err);
    for (size_t i = 0; rc == 0 && i < sizeof(others) / sizeof(others[0]); i++)
        rc = add(all, others[i].name, others[i].treatment, 0, err);
    return rc;
}
