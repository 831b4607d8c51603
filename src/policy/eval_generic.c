/* eval_generic: rules that speak of an event's fields, and the counters. Threshold and sequence rules see
 * every event, whatever rule decides: where they stand in the table says only whose verdict it is. */
#include "policy/judge.h"

#include "base/mem.h"
#include "base/path.h"
#include "policy/fields.h"
#include "policy/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- conditions ---- */

static bool number_equals(int64_t n, const char *value)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)n);
    return strcmp(text, value) == 0;
}

static bool text_equals(const struct field_value *v, const char *value)
{
    size_t len = strlen(value);

    if (v->str.len != len)
        return false;
    return v->fold ? strncasecmp(v->str.p, value, len) == 0 : memcmp(v->str.p, value, len) == 0;
}

static bool value_equals(const struct st_event *e, unsigned field, const struct field_value *v,
                         const char *value)
{
    (void)field;
    if (v->set) {
        int bit = st_access_by_name(st_str(value));

        return bit > 0 && v->set & (unsigned)bit;
    }
    if (v->number)
        return number_equals(v->n, value);
    /* The older manifests know changed files by the summary only; here each is an event. */
    if (e->type == ST_EV_FILESYSTEM && strcmp(value, "filesystem_summary") == 0 &&
        strcmp(st_field_name(field), "event_type") == 0)
        return true;
    return text_equals(v, value);
}

static bool value_globs(const struct field_value *v, const struct st_predicate *p)
{
    uint32_t first[ACCESS_BITS];
    struct st_str path = v->str;
    char room[PATH_MAX];

    if (v->set) {
        for (unsigned bit = 1; bit <= ST_ACCESS_ALL; bit <<= 1)
            if (v->set & bit && st_glob_text(p->values[0], st_str(st_access_name(bit)), false))
                return true;
        return false;
    }
    if (!p->paths)
        return st_glob_text(p->values[0], v->str, v->fold);
    if (!st_path_is_normal(path.p, path.len))
        path = (struct st_str){room, st_path_normalise(path.p, path.len, room, sizeof(room))};
    if (path.len == 0)
        return false;
    st_pathmatch_first(p->paths, path.p, path.len, ST_ACCESS_READ, first);
    return first[0] == 0;
}

/* A field that the event does not have is equal to nothing, and its rule is about other events. */
bool st_predicate_holds(const struct st_event *e, const struct st_predicate *p)
{
    struct field_value v;

    st_field_of(e, p->field, &v);
    if (!v.known)
        return false;
    if (p->op == ST_PRED_GLOB)
        return value_globs(&v, p);
    for (size_t i = 0; i < p->n_values; i++)
        if (value_equals(e, p->field, &v, p->values[i]))
            return p->op == ST_PRED_EQUALS;
    return p->op == ST_PRED_NOT_IN;
}

/* Index of the first predicate that does not hold; n: all do. */
static size_t first_false(const struct st_event *e, const struct st_condition *c)
{
    size_t i = 0;

    while (i < c->n && st_predicate_holds(e, &c->predicates[i]))
        i++;
    return i;
}

/* ---- threshold ---- */

static double threshold_add(struct threshold_state *s, int64_t window_ms, int64_t now_us, double amount)
{
    int64_t width = (window_ms * 1000 + THRESHOLD_BUCKETS - 2) / (THRESHOLD_BUCKETS - 1);
    int64_t number = now_us / width;
    double sum = 0;

    if (number > s->newest) {
        int64_t old = number - s->newest > THRESHOLD_BUCKETS ? THRESHOLD_BUCKETS : number - s->newest;

        for (int64_t i = 0; i < old; i++)
            s->buckets[(number - i) % THRESHOLD_BUCKETS] = 0;
        s->newest = number;
    }
    s->buckets[s->newest % THRESHOLD_BUCKETS] += amount;
    for (int i = 0; i < THRESHOLD_BUCKETS; i++)
        sum += s->buckets[i];
    return sum;
}

static double amount_of(const struct st_event *e, const struct st_threshold *t)
{
    double count = e->count > 1 ? (double)e->count : 1;
    struct field_value v;

    if (t->metric != ST_METRIC_SUM)
        return count;
    st_field_of(e, (unsigned)t->field, &v);
    return v.known && v.number && v.n > 0 ? (double)v.n : 0;
}

static bool threshold_fires(struct judge *j, uint32_t index, const struct st_rule *rule, double *value)
{
    const struct st_threshold *t = &rule->threshold;
    size_t failed = first_false(j->e, &rule->when);

    if (failed < rule->when.n) {
        note(j, index, NOTE_PREDICATE, (uint32_t)failed);
        return false;
    }
    *value = threshold_add(&j->c->thresholds[rule->slot], t->window_ms, j->c->now_us, amount_of(j->e, t));
    if (t->metric == ST_METRIC_RATE)
        *value = *value * 1000 / (double)t->window_ms;
    if (*value > t->limit)
        return true;
    note(j, index, NOTE_COUNTED, 0);
    if (j->notes)
        j->notes[index].value = *value;
    return false;
}

/* ---- sequence ---- */

/* For each step the latest beginning is kept: a run that began later has more time left, so no other can
 * complete where that one can't. From the last step back, so that one event makes one step. */
static bool sequence_fires(struct judge *j, uint32_t index, const struct st_rule *rule)
{
    const struct st_sequence *s = &rule->sequence;
    int64_t *began = j->c->sequences[rule->slot].began, now = j->c->now_us;
    uint32_t done = 0;
    bool complete = false;

    for (size_t step = s->n_steps; step-- > 0;) {
        int64_t start = step ? began[step - 1] : now;

        if (start == INT64_MIN || now - start > s->window_ms * 1000)
            continue;
        if (first_false(j->e, &s->steps[step]) < s->steps[step].n)
            continue;
        if (step + 1 == s->n_steps)
            complete = true;
        else if (start > began[step])
            began[step] = start;
    }
    if (complete) {
        for (size_t step = 0; step < s->n_steps; step++)
            began[step] = INT64_MIN;
        return true;
    }
    for (size_t step = 0; step < s->n_steps; step++)
        if (began[step] != INT64_MIN && now - began[step] <= s->window_ms * 1000)
            done = (uint32_t)step + 1;
    note(j, index, NOTE_STEP, done);
    return false;
}

void st_judge_generic(struct judge *j)
{
    const struct st_policy *p = j->p;

    for (size_t i = 0; i < p->n_generic; i++) {
        uint32_t index = p->generic[i];
        const struct st_rule *rule = &p->rules[index];
        double value = 0;
        bool fires;

        if (rule->type == ST_RULE_THRESHOLD) {
            fires = threshold_fires(j, index, rule, &value);
        } else if (rule->type == ST_RULE_SEQUENCE) {
            fires = sequence_fires(j, index, rule);
        } else {
            size_t failed = j->generic == NO_RULE || j->notes ? first_false(j->e, &rule->when) : 0;

            fires = (j->generic == NO_RULE || j->notes) && failed == rule->when.n;
            if (!fires)
                note(j, index, NOTE_PREDICATE, (uint32_t)failed);
        }
        if (!fires)
            continue;
        note(j, index, NOTE_MATCHED, 0);
        if (j->generic == NO_RULE) {
            j->generic = index;
            j->value = value;
        }
    }
}

/* ---- the counters' life ---- */

struct st_counters *st_counters_new(struct st_policy *policy)
{
    struct st_policy *owner = policy->parent ? policy->parent : policy;
    struct st_counters *c = st_xcalloc(1, sizeof(*c));

    c->policy = st_policy_ref(owner);
    c->sent = st_xcalloc(owner->n_totals + 1, sizeof(*c->sent));
    c->thresholds = st_xcalloc(owner->n_thresholds + 1, sizeof(*c->thresholds));
    c->sequences = st_xcalloc(owner->n_sequences + 1, sizeof(*c->sequences));
    for (size_t i = 0; i < owner->n_generic; i++) {
        const struct st_rule *rule = &owner->rules[owner->generic[i]];
        int64_t *began;

        if (rule->type != ST_RULE_SEQUENCE)
            continue;
        began = st_xcalloc(rule->sequence.n_steps + 1, sizeof(*began));
        for (size_t step = 0; step < rule->sequence.n_steps; step++)
            began[step] = INT64_MIN;
        c->sequences[rule->slot].began = began;
    }
    return c;
}

void st_counters_free(struct st_counters *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->policy->n_sequences; i++)
        free(c->sequences[i].began);
    free(c->sequences);
    free(c->thresholds);
    free(c->sent);
    st_buf_free(&c->reason);
    st_buf_free(&c->subject);
    st_policy_unref(c->policy);
    free(c);
}

void st_counters_freep(struct st_counters **counters)
{
    st_counters_free(*counters);
    *counters = NULL;
}

/* The same rule as before, as far as counting goes. */
static bool same_state(const struct st_rule *a, const struct st_rule *b)
{
    return a->id && b->id && strcmp(a->id, b->id) == 0 && a->type == b->type &&
           a->threshold.window_ms == b->threshold.window_ms && a->threshold.metric == b->threshold.metric &&
           a->threshold.field == b->threshold.field && a->sequence.n_steps == b->sequence.n_steps;
}

static void carry(struct st_counters *to, const struct st_rule *new, const struct st_counters *from,
                  const struct st_rule *old)
{
    if (new->type == ST_RULE_EGRESS)
        to->sent[new->slot] = from->sent[old->slot];
    else if (new->type == ST_RULE_THRESHOLD)
        to->thresholds[new->slot] = from->thresholds[old->slot];
    else if (new->type == ST_RULE_SEQUENCE)
        memcpy(to->sequences[new->slot].began, from->sequences[old->slot].began,
               new->sequence.n_steps * sizeof(int64_t));
}

struct st_counters *st_counters_renew(struct st_policy *policy, struct st_counters *from)
{
    struct st_counters *to = st_counters_new(policy);
    const struct st_policy *a = to->policy, *b = from->policy;
    struct trie ids;
    uint32_t *by_node = st_xcalloc(b->n_rules + 1, sizeof(*by_node));

    st_trie_init(&ids);
    for (uint32_t i = 0; i < b->n_rules; i++)
        by_node[st_trie_add(&ids, TRIE_ROOT, 0, b->rules[i].id, strlen(b->rules[i].id))] = i;
    for (size_t i = 0; i < a->n_rules; i++) {
        const char *id = a->rules[i].id;
        size_t len = strlen(id);
        uint32_t node = st_trie_find(&ids, TRIE_ROOT, 0, id, len, st_trie_hash(&ids, 0, id, len));

        if (node && same_state(&a->rules[i], &b->rules[by_node[node]]))
            carry(to, &a->rules[i], from, &b->rules[by_node[node]]);
    }
    to->now_us = from->now_us;
    st_trie_free(&ids);
    free(by_node);
    st_counters_free(from);
    return to;
}
