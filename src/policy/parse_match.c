/* parse_match: the older rule types that speak of an event's fields: match, threshold, sequence. */
#include "policy/parse.h"

#include "base/suggest.h"
#include "model/event.h"
#include "policy/fields.h"
#include "policy/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 32
#define WEEK_MS ((int64_t)7 * 86400000)

static bool find_field(struct reader *r, const struct st_yaml_node *at, const char *name, bool is_key,
                       unsigned *out)
{
    struct st_suggestion best = {0};
    const char *plain = strncmp(name, "payload.", 8) == 0   ? name + 8
                        : strncmp(name, "process.", 8) == 0 ? name + 8
                                                            : name;
    int field = st_field_by_name(plain);
    char right[120];

    if (field >= 0) {
        *out = (unsigned)field;
        return true;
    }
    for (size_t i = 0; i < st_field_count(); i++)
        st_suggest_offer(&best, plain, st_field_name((unsigned)i));
    snprintf(right, sizeof(right), best.word ? "did you mean `%s`?" : "sandtrace-policy(5) lists them%s",
             best.word ? best.word : "");
    st_diag_error(r->diags, r->file, is_key ? st_at_key(at) : st_at_value(at), right,
                  "events have no field `%.80s` that a rule could look at", name);
    return false;
}

/* ---- predicates ---- */

static bool known_value(struct reader *r, const struct st_yaml_node *node, unsigned field, const char *value)
{
    const char *name = st_field_name(field);
    int64_t n;

    if (strcmp(name, "event_type") == 0 && st_event_type_by_name(st_str(value)) < 0) {
        const char *words[ST_EV_TYPES];
        char right[80];
        const char *near;

        for (unsigned i = 0; i < ST_EV_TYPES; i++)
            words[i] = st_event_type_name((enum st_event_type)i);
        near = st_suggest(value, words, ST_EV_TYPES);
        snprintf(right, sizeof(right), near ? "did you mean `%s`?" : "sandtrace-policy(5) lists them%s",
                 near ? near : "");
        complain(r, node, right, "no event has the type `%.60s`, so this can never match", value);
        return false;
    }
    if (st_field_is_number(field) && !st_yaml_int(node, &n)) {
        complain(r, node, "write a whole number", "`%s` is a number, so `%.60s` can never match", name,
                 value);
        return false;
    }
    return true;
}

static bool take_value(struct reader *r, const struct st_yaml_node *node, unsigned field, const char **out)
{
    const char *text, *canonical;
    char room[FIELD_SIZE];

    if (!st_take_string(r, node, &text) || !known_value(r, node, field, text))
        return false;
    canonical = st_field_canonical(field, text, room);
    if (!canonical) {
        complain(r, node, "write an address; for a prefix use a rule of type network_egress",
                 "`%s` is an address, so `%.60s` can never match", st_field_name(field), text);
        return false;
    }
    *out = st_arena_strndup(r->arena, canonical, strlen(canonical));
    return true;
}

static bool take_not_in(struct reader *r, const struct st_yaml_node *node, struct st_predicate *p)
{
    const char **list;
    size_t n = 0;

    if (!st_is_list(r, node))
        return false;
    list = st_arena_alloc(r->arena, node->count * sizeof(*list));
    st_yaml_each (item, node)
        if (take_value(r, item, p->field, &list[n]))
            n++;
    p->values = list;
    p->n_values = n;
    return n == node->count;
}

/* A glob of a path that begins with a slash is a path pattern, with the same rules as in `paths`. */
static bool check_glob(struct reader *r, const struct st_yaml_node *node, unsigned field, const char *glob)
{
    struct path_patterns parsed;
    struct pattern_fault fault;
    bool ok = !st_field_is_path(field) || glob[0] != '/' ||
              st_path_pattern_parse(&r->scratch, glob, &parsed, &fault);

    if (!ok)
        complain(r, node, fault.right, "path `%.200s`: %s", glob, fault.what);
    st_arena_clear(&r->scratch);
    return ok;
}

static bool parse_predicate(struct reader *r, const struct st_yaml_node *node, struct st_predicate *p)
{
    static const char *const ops[] = {"equals", "glob", "not_in"};
    const struct st_yaml_node *value = node;
    const char **one;
    int op = ST_PRED_EQUALS;

    if (!find_field(r, node, node->key, true, &p->field))
        return false;
    if (node->type == ST_YAML_MAPPING) {
        if (node->count != 1) {
            complain(r, node, "write one of `equals`, `glob`, `not_in`", "a field has one predicate");
            return false;
        }
        value = node->first;
        for (op = 0; op < (int)N_OF(ops) && strcmp(ops[op], value->key) != 0;)
            op++;
        if (op == (int)N_OF(ops)) {
            static const struct key known[] = {{"equals", NULL}, {"glob", NULL}, {"not_in", NULL}};

            st_unknown_key(r, value, known, N_OF(known), "a predicate");
            return false;
        }
    }
    p->op = (enum st_predicate_op)op;
    if (p->op == ST_PRED_NOT_IN)
        return take_not_in(r, value, p);
    p->values = one = st_arena_alloc(r->arena, sizeof(*one));
    p->n_values = 1;
    if (p->op == ST_PRED_EQUALS)
        return take_value(r, value, p->field, one);
    if (st_field_is_number(p->field)) {
        complain(r, value, "use `equals` or `not_in`", "`%s` is a number: a glob can't match it", node->key);
        return false;
    }
    return st_take_string(r, value, one) && check_glob(r, value, p->field, *one);
}

void st_parse_condition(struct reader *r, const struct st_yaml_node *node, struct st_condition *out)
{
    struct st_predicate *list;
    size_t n = 0;

    if (!st_is_mapping(r, node))
        return;
    if (!node->first) {
        complain(r, node, "name at least one field", "an empty condition matches everything");
        return;
    }
    list = st_arena_zalloc(r->arena, node->count * sizeof(*list));
    st_yaml_each (item, node)
        if (parse_predicate(r, item, &list[n]))
            n++;
    *out = (struct st_condition){list, n};
}

void st_parse_bind(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule)
{
    struct st_binding *list;
    size_t n = 0;

    if (!st_is_mapping(r, node))
        return;
    list = st_arena_alloc(r->arena, (node->count + 1) * sizeof(*list));
    st_yaml_each (item, node) {
        const char *field;

        list[n].name = st_arena_strndup(r->arena, item->key, strlen(item->key));
        if (st_take_string(r, item, &field) && find_field(r, item, field, false, &list[n].field))
            n++;
    }
    rule->bind = list;
    rule->n_bind = n;
}

/* ---- threshold ---- */

static void take_metric(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    static const char *const words[] = {"count", "sum", "rate"};
    int word;

    if (st_take_word(r, node, words, N_OF(words), &word))
        ((struct st_rule *)ctx)->threshold.metric = (enum st_metric)word;
}

static void take_field(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct st_rule *rule = ctx;
    const char *name;
    unsigned field;

    if (!st_take_string(r, node, &name) || !find_field(r, node, name, false, &field))
        return;
    rule->threshold.field = (int)field;
    if (!st_field_is_number(field))
        complain(r, node, "name a number such as bytes_sent", "`%s` is not a number and can't be summed",
                 name);
}

static void take_window(struct reader *r, const struct st_yaml_node *node, int64_t *out)
{
    if (st_take_duration(r, node, WEEK_MS, out) && *out == 0)
        complain(r, node, "write a duration such as 5m", "a window of no length holds nothing");
}

static void take_threshold_window(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    take_window(r, node, &((struct st_rule *)ctx)->threshold.window_ms);
}

/* `100`, and `100.0` as the older manifests write it. */
static void take_limit(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    char *end = NULL;
    double value =
        node->type == ST_YAML_SCALAR && !node->quoted && node->len ? strtod(node->value, &end) : -1;

    if (!end || *end || strspn(node->value, "0123456789.") != node->len || value < 0 || value > 9e15)
        complain(r, node, "write a number from 0 on", "`limit` must be a number");
    else
        ((struct st_rule *)ctx)->threshold.limit = value;
}

static void take_filter(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    st_parse_condition(r, node, &((struct st_rule *)ctx)->when);
}

void st_parse_threshold(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule)
{
    static const struct key keys[] = {
        {"metric", take_metric}, {"field", take_field},  {"window", take_threshold_window},
        {"limit", take_limit},   {"match", take_filter},
    };
    static const char *const needed[] = {"metric", "window", "limit"};

    rule->threshold.field = -1;
    st_read_keys(r, node, keys, N_OF(keys), rule, "`threshold`");
    for (size_t i = 0; i < N_OF(needed) && node->type == ST_YAML_MAPPING; i++)
        if (!st_yaml_get(node, needed[i]))
            complain(r, node, NULL, "a threshold needs `%s`", needed[i]);
    if (rule->threshold.metric == ST_METRIC_SUM && !st_yaml_get(node, "field"))
        complain(r, node, "write field: bytes_sent", "a sum needs the `field` that is summed");
}

/* ---- sequence ---- */

static void take_sequence_window(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    take_window(r, node, &((struct st_rule *)ctx)->sequence.window_ms);
}

static void take_steps(struct reader *r, const struct st_yaml_node *node, void *ctx)
{
    struct st_rule *rule = ctx;
    struct st_condition *steps;
    size_t n = 0;

    if (!st_is_list(r, node))
        return;
    if (node->count < 2 || node->count > MAX_STEPS) {
        complain(r, node, "write 2 to 32 steps; for one, use a rule of type match", "a sequence of %zu steps",
                 node->count);
        return;
    }
    steps = st_arena_zalloc(r->arena, node->count * sizeof(*steps));
    st_yaml_each (item, node)
        st_parse_condition(r, item, &steps[n++]);
    rule->sequence.steps = steps;
    rule->sequence.n_steps = n;
}

void st_parse_sequence(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule)
{
    static const struct key keys[] = {{"window", take_sequence_window}, {"steps", take_steps}};

    st_read_keys(r, node, keys, N_OF(keys), rule, "`sequence`");
    for (size_t i = 0; i < N_OF(keys) && node->type == ST_YAML_MAPPING; i++)
        if (!st_yaml_get(node, keys[i].name))
            complain(r, node, NULL, "a sequence needs `%s`", keys[i].name);
}
