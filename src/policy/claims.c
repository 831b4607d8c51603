/* claims: see claims.h. */
#include "policy/claims.h"

#include "policy/fields.h"
#include "policy/judge.h"

#include <string.h>

/* Fields of which it is known what they are of every open: alike, or not there. All others may be anything.
 */
static bool is_known(unsigned field)
{
    static const char *const names[] = {"event_type", "op",        "access",        "dst_host", "dst_ip",
                                        "dst_port",   "protocol",  "bytes_sent",    "qtype",    "dest_host",
                                        "dest_ip",    "dest_port", "bytes_received"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(st_field_name(field), names[i]) == 0)
            return true;
    return false;
}

static bool may_be_open(const struct st_condition *c)
{
    const struct st_event open = {.type = ST_EV_FILESYSTEM,
                                  .fs = {.op = ST_FS_OPEN, .access = ST_ACCESS_READ | ST_ACCESS_WRITE}};

    for (size_t i = 0; i < c->n; i++)
        if (is_known(c->predicates[i].field) && !st_predicate_holds(&open, &c->predicates[i]))
            return false;
    return true;
}

/* The one pattern that its path must fit; NULL: any path will do, or none that a pattern could say. */
static const char *path_of(const struct st_condition *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct st_predicate *p = &c->predicates[i];

        if (strcmp(st_field_name(p->field), "path") != 0)
            continue;
        if (p->op == ST_PRED_GLOB && p->paths)
            return p->values[0];
        if (p->op == ST_PRED_EQUALS && p->values[0][0] == '/' && !strpbrk(p->values[0], "*?\\"))
            return p->values[0];
    }
    return NULL;
}

typedef bool condition_taker(void *ctx, const struct st_condition *c);

/* true: take said so of one of them. */
static bool each_condition(const struct st_rule *rule, condition_taker *take, void *ctx)
{
    if (rule->type == ST_RULE_THRESHOLD || (rule->type == ST_RULE_MATCH && rule->action != ST_ALLOW))
        return take(ctx, &rule->when);
    for (size_t i = 0; rule->type == ST_RULE_SEQUENCE && i < rule->sequence.n_steps; i++)
        if (take(ctx, &rule->sequence.steps[i]))
            return true;
    return false;
}

struct taking {
    claim_taker *take;
    void *ctx;
};

static bool take_condition(void *ctx, const struct st_condition *c)
{
    const struct taking *t = ctx;
    const char *path = path_of(c);

    if (path && may_be_open(c))
        t->take(t->ctx, &(struct claim){path, ST_ACCESS_READ | ST_ACCESS_WRITE});
    return false;
}

void st_claims_of(const struct st_rule *rule, claim_taker *take, void *ctx)
{
    struct taking taking = {take, ctx};

    if (rule->type == ST_RULE_FILESYSTEM && rule->action != ST_ALLOW)
        for (size_t i = 0; i < rule->n_paths; i++)
            take(ctx, &(struct claim){rule->paths[i], rule->access});
    each_condition(rule, take_condition, &taking);
}

static bool is_of_any_path(void *ctx, const struct st_condition *c)
{
    (void)ctx;
    return !path_of(c) && may_be_open(c);
}

bool st_claims_all(const struct st_rule *rule)
{
    return each_condition(rule, is_of_any_path, NULL);
}
