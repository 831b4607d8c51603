/* depth: see depth.h. */
#include "policy/depth.h"

#include "base/buf.h"
#include "base/mem.h"
#include "model/boundary.h"
#include "policy/claims.h"
#include "policy/reach.h"
#include "policy/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OPENS_FOR_WRITING ST_ACCESS_WRITE

struct planner {
    const struct st_policy *policy; /* that owns the table */
    struct st_depth_plan *plan;
    struct st_arena scratch;
    size_t rule; /* whose claims are being looked at */
};

const char *st_cost_name(enum st_cost cost)
{
    static const char *const names[] = {"nothing", "calls", "executions", "objects", "opens"};

    return (size_t)cost < sizeof(names) / sizeof(names[0]) ? names[cost] : "?";
}

int st_depth_choose(const struct st_policy *policy, const char *name, enum st_depth *out,
                    struct st_error *err)
{
    enum st_depth own = st_policy_depth(policy);

    *out = own;
    if (!name || strcmp(name, "policy") == 0)
        return 0;
    for (enum st_depth d = ST_DEPTH_GUARD; d <= ST_DEPTH_STRICT; d++)
        if (strcmp(name, st_depth_name(d)) == 0) {
            *out = d;
            if (d < own && st_policy_locked(policy))
                return st_fail(err, EPERM, "policy '%s' is locked at depth %s, which can't be made %s",
                               st_policy_name(policy), st_depth_name(own), name);
            return 0;
        }
    return st_fail(err, EINVAL, "depth `%.64s`; write guard, record or strict", name);
}

/* ---- patterns and mounts ---- */

static bool parse(struct planner *p, const char *pattern, struct path_patterns *out)
{
    struct pattern_fault fault;

    st_arena_clear(&p->scratch);
    return st_path_pattern_parse(&p->scratch, pattern, out, &fault);
}

typedef bool relation(const struct path_pattern *p, const char *place);

static bool some(const struct path_patterns *all, relation *is, const char *place)
{
    for (size_t i = 0; i < all->n; i++)
        if (is(&all->variants[i], place))
            return true;
    return false;
}

static bool all(const struct path_patterns *all, relation *is, const char *place)
{
    for (size_t i = 0; i < all->n; i++)
        if (!is(&all->variants[i], place))
            return false;
    return true;
}

static bool is_below(const char *path, const char *dir)
{
    size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

    return strncmp(path, dir, len) == 0 && path[len] == '/' && path[len + 1];
}

static bool is_parent(const char *dir, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash == path ? 1 : (size_t)(slash - path);

    return strlen(dir) == len && strncmp(dir, path, len) == 0;
}

/* The directory below which all matches lie; "" where it has a name that can't be written plainly. */
static void add_prefix(const struct path_pattern *p, struct st_buf *out)
{
    for (size_t i = 0; i < p->n && p->parts[i].kind == PART_LITERAL; i++) {
        st_buf_addc(out, '/');
        st_buf_add(out, p->parts[i].bytes, p->parts[i].len);
    }
    if (out->len && strpbrk(st_buf_cstr(out), "*?\\["))
        st_buf_clear(out);
}

/* Its text names what it matches, component by component. `x**` is one pattern as well, but of two. */
static bool is_plain(const char *text, const struct path_patterns *parsed)
{
    const struct path_pattern *one = &parsed->variants[0];
    const char *stars = strstr(text, "**");

    if (parsed->n != 1 || strpbrk(text, "\\[") || (stars && stars[-1] != '/'))
        return false;
    for (size_t i = 0; i + 1 < one->n; i++)
        if (one->parts[i].kind == PART_DEEP)
            return false;
    return true;
}

/* How what fits the pattern on this mount can be listed; NULL: not without listing all of it. */
static const char *list_of(struct planner *p, const char *text, const struct path_patterns *parsed,
                           const struct st_footing *m)
{
    st_auto_buf prefix = ST_BUF_INIT;

    if (is_plain(text, parsed))
        return all(parsed, st_pattern_covers, m->point) ? NULL : text;
    add_prefix(&parsed->variants[0], &prefix);
    if (parsed->n != 1 || !prefix.len || !is_below(st_buf_cstr(&prefix), m->point))
        return NULL;
    st_buf_adds(&prefix, "/**");
    return st_arena_strndup(&p->plan->strings, prefix.data, prefix.len);
}

/* Another mount, below m, has all that the pattern could match. What lies between the two can be moved away
 * by whoever may write there; that matters where reading is refused: of writing, a mount that can't be
 * written holds what was there. */
static bool lies_elsewhere(const struct planner *p, const struct path_patterns *parsed, unsigned access,
                           const struct st_footing *m)
{
    for (size_t i = 0; i < p->plan->n_mounts; i++) {
        const struct st_footing *o = p->plan->mounts[i].at;

        if (is_below(o->point, m->point) && all(parsed, st_pattern_stays_in, o->point) &&
            (!m->writable || is_parent(m->point, o->point) || (!(access & ST_ACCESS_READ) && !o->writable)))
            return true;
    }
    return false;
}

/* ---- what follows from a claim ---- */

static void raise_cost(struct planner *p, enum st_cost cost)
{
    struct st_depth_rule *r = &p->plan->rules[p->rule];

    if (cost > r->cost)
        r->cost = cost;
}

static void ask_about_all(struct planner *p, struct st_depth_mount *m, const char *why)
{
    raise_cost(p, ST_COST_OPENS);
    if (!p->plan->rules[p->rule].everywhere)
        p->plan->rules[p->rule].everywhere = m->at->point;
    if (m->every_open)
        return;
    m->every_open = true;
    m->rule = &p->policy->rules[p->rule];
    m->why = why;
}

static const struct path_patterns *keep_parsed(struct st_depth_plan *plan, const char *pattern)
{
    struct path_patterns *kept = st_arena_alloc(&plan->strings, sizeof(*kept));
    struct pattern_fault fault;

    if (!st_path_pattern_parse(&plan->strings, pattern, kept, &fault))
        abort(); /* it was parsed before */
    return kept;
}

static void ask_about_objects(struct planner *p, const char *pattern, const char *list,
                              struct st_depth_mount *m)
{
    struct st_depth_plan *plan = p->plan;
    size_t n = plan->n_objects;

    raise_cost(p, ST_COST_OBJECTS);
    m->listed = true;
    if (n && plan->objects[n - 1].pattern == pattern && strcmp(plan->objects[n - 1].list, list) == 0)
        return; /* on another mount */
    if ((n & (n - 1)) == 0)
        plan->objects = st_xrealloc(plan->objects, (n ? 2 * n : 1) * sizeof(*plan->objects));
    plan->objects[plan->n_objects++] = (struct st_depth_object){pattern, list, keep_parsed(plan, pattern)};
}

static void read_claim(struct planner *p, const char *pattern, const char *list, struct st_depth_mount *m)
{
    if (m->at->silent) {
        if (!p->plan->rules[p->rule].unseen)
            p->plan->rules[p->rule].unseen = m->at->point;
    } else if (m->at->writable) {
        ask_about_all(p, m, "what may not be read could be made there");
    } else if (!m->at->own) {
        ask_about_all(p, m, "others may change what is there");
    } else if (!list) {
        ask_about_all(p, m, "what may not be read is not to be listed");
    } else {
        ask_about_objects(p, pattern, list, m);
    }
}

/* What can't be written by anybody needs no more than the floor. */
static void write_claim(struct planner *p, const char *pattern, const char *list, struct st_depth_mount *m)
{
    if (m->at->silent || !m->at->writable)
        return;
    if (!list)
        ask_about_all(p, m, "what may not be written is not to be listed");
    else
        ask_about_objects(p, pattern, list, m);
}

static void take_claim(void *ctx, const struct claim *c)
{
    struct planner *p = ctx;
    struct path_patterns parsed;

    if (!parse(p, c->pattern, &parsed))
        return; /* one that can't be parsed matches nothing */
    for (size_t i = 0; i < p->plan->n_mounts; i++) {
        struct st_depth_mount *m = &p->plan->mounts[i];
        const char *list;

        if (!some(&parsed, st_pattern_reaches, m->at->point) || lies_elsewhere(p, &parsed, c->access, m->at))
            continue;
        list = list_of(p, c->pattern, &parsed, m->at);
        if (c->access & ST_ACCESS_READ)
            read_claim(p, c->pattern, list, m);
        else if (c->access & OPENS_FOR_WRITING)
            write_claim(p, c->pattern, list, m);
    }
}

/* ---- writing by default ---- */

static bool may_be_written(struct planner *p, const char *point)
{
    for (size_t i = 0; i < p->policy->n_rules + p->policy->settings.n_scope; i++) {
        const struct st_rule *r = &p->policy->rules[i];

        if (r->type != ST_RULE_FILESYSTEM || r->action != ST_ALLOW || !(r->access & OPENS_FOR_WRITING))
            continue;
        for (size_t k = 0; k < r->n_paths; k++) {
            struct path_patterns parsed;

            if (parse(p, r->paths[k], &parsed) && some(&parsed, st_pattern_covers, point))
                return true;
        }
    }
    return false;
}

/* Without a floor beneath, a path that changes while it is asked about would be written. */
static void plan_default(struct planner *p)
{
    if (p->policy->settings.defaults.fs_write == ST_ALLOW)
        return;
    for (size_t i = 0; i < p->plan->n_mounts; i++) {
        struct st_depth_mount *m = &p->plan->mounts[i];

        if (m->every_open || m->at->silent || !m->at->writable || may_be_written(p, m->at->point))
            continue;
        m->every_open = true;
        m->why = "it can be written, and not all of it may be";
    }
}

/* ---- all of it ---- */

static bool lets_by(const struct st_rule *r)
{
    const struct st_boundary *b;

    if (r->type != ST_RULE_SYSCALL || r->action != ST_ALLOW)
        return false;
    for (size_t k = 0; k < r->n_names; k++)
        for (size_t i = 0; (b = st_boundary_at(i)); i++)
            if (b->bypass && strcmp(b->name, r->names[k]) == 0)
                return true;
    return false;
}

/* Why nothing less than every open will do; NULL: there is no such reason. */
static const char *needs_strict(struct planner *p, const struct st_depth_facts *facts, bool audit)
{
    if (audit)
        return "in audit mode nothing asks before a change";
    if (!facts->notified)
        return "nothing asks before a change: the container was started without the shim";
    if (p->policy->settings.defaults.fs_read != ST_ALLOW)
        return "what is not allowed may not be read";
    for (size_t i = 0; i < p->policy->n_rules; i++) {
        p->plan->rule = &p->policy->rules[i];
        if (p->plan->rule->n_hashes)
            return "the content of programs decides, which must not change meanwhile";
        if (lets_by(p->plan->rule))
            return "it may change its mounts";
        if (st_claims_all(p->plan->rule))
            return "it is about opens of anything";
    }
    p->plan->rule = NULL;
    return NULL;
}

static enum st_cost cost_by_type(const struct st_rule *r)
{
    if (r->type == ST_RULE_PROCESS)
        return ST_COST_RUNS;
    if (r->type == ST_RULE_SYSCALL)
        return ST_COST_CALLS;
    if (r->type != ST_RULE_FILESYSTEM || r->action == ST_ALLOW)
        return ST_COST_NOTHING;
    return r->access == ST_ACCESS_EXEC ? ST_COST_RUNS : ST_COST_CALLS;
}

static void plan_strictly(struct planner *p)
{
    for (size_t i = 0; i < p->plan->n_mounts; i++)
        p->plan->mounts[i].every_open = !p->plan->mounts[i].at->silent;
}

static void plan_rules(struct planner *p, bool strict)
{
    for (p->rule = 0; p->rule < p->policy->n_rules; p->rule++) {
        const struct st_rule *r = &p->policy->rules[p->rule];

        raise_cost(p, cost_by_type(r));
        st_claims_of(r, take_claim, p);
        if (strict && p->plan->rules[p->rule].cost >= ST_COST_OBJECTS)
            p->plan->rules[p->rule].cost = ST_COST_OPENS;
    }
}

void st_depth_plan_make(const struct st_policy *policy, const struct st_depth_facts *facts,
                        struct st_depth_plan *out)
{
    struct planner p = {.policy = policy_owner(policy), .plan = out};

    *out = (struct st_depth_plan){.depth = facts->asked,
                                  .rules = st_xcalloc(p.policy->n_rules + 1, sizeof(*out->rules)),
                                  .n_rules = p.policy->n_rules,
                                  .mounts = st_xcalloc(facts->n_mounts + 1, sizeof(*out->mounts)),
                                  .n_mounts = facts->n_mounts};
    for (size_t i = 0; i < facts->n_mounts; i++)
        out->mounts[i].at = &facts->mounts[i];
    if (facts->asked != ST_DEPTH_STRICT)
        out->why = needs_strict(&p, facts, st_policy_mode(policy) == ST_MODE_AUDIT);
    if (out->why)
        out->depth = ST_DEPTH_STRICT;
    plan_rules(&p, out->depth == ST_DEPTH_STRICT);
    if (out->depth == ST_DEPTH_STRICT) {
        plan_strictly(&p);
        out->n_objects = 0;
    } else {
        plan_default(&p);
    }
    st_arena_free(&p.scratch);
}

void st_depth_plan_free(struct st_depth_plan *plan)
{
    free(plan->rules);
    free(plan->objects);
    free(plan->mounts);
    st_arena_free(&plan->strings);
    *plan = (struct st_depth_plan){0};
}

/* ---- later ---- */

void st_depth_plan_widen(struct st_depth_plan *plan, const struct st_depth_object *object, const char *why)
{
    for (size_t i = 0; i < plan->n_mounts; i++) {
        struct st_depth_mount *m = &plan->mounts[i];

        if (m->every_open || m->at->silent || !some(object->parsed, st_pattern_reaches, m->at->point))
            continue;
        m->every_open = true;
        m->why = why;
    }
}

bool st_depth_plan_reaches(const struct st_depth_plan *plan, struct st_str path)
{
    st_auto_buf place = ST_BUF_INIT;

    st_buf_add(&place, path.p, path.len);
    for (size_t i = 0; i < plan->n_objects; i++)
        if (some(plan->objects[i].parsed, st_pattern_reaches, st_buf_cstr(&place)))
            return true;
    return false;
}
