/* answers_listen: requests that only listen: events, pending, summary. */
#include "monitor/answers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "policy/rule.h"

#include <string.h>

/* An answer is one line of at most 1 MiB: from here on pauses are listed without their event. */
#define PENDING_DETAILS ((size_t)700 << 10)

/* ---- events ---- */

/* A set of bits from an array of names; absent: all. */
static bool read_set(const struct st_json_node *list, int (*by_name)(struct st_str), uint32_t *out)
{
    *out = UINT32_MAX;
    if (!list || st_json_is(list, ST_JSON_NULL))
        return true;
    if (!st_json_is(list, ST_JSON_ARRAY))
        return false;
    *out = 0;
    st_json_each (item, list) {
        const char *word = st_json_str(item, NULL);
        int n = word ? by_name(st_str(word)) : -1;

        if (n < 0)
            return false;
        *out |= 1u << n;
    }
    return true;
}

/* The records that the ring still has, and how many it has not. */
static void write_backlog(struct st_worker *w, const struct st_interest *filter, uint64_t since,
                          struct st_buf *out)
{
    const struct st_ring *ring = &w->news.ring;
    uint64_t last = st_trace_seq(w->pipeline.trace);
    uint64_t first = ring->first_seq ? ring->first_seq : last + 1;
    struct st_ring_entry entry;
    const char *line;
    size_t at = 0;

    if (since + 1 < first)
        st_outbox_gap(out, w->watch->order.id, first - since - 1, first - 1);
    while (st_ring_next(ring, &at, &entry, &line))
        if (entry.seq > since && st_interest_takes(filter, &entry))
            st_buf_add(out, line, entry.len);
}

static void write_place(struct st_worker *w, struct st_buf *out, bool end)
{
    struct st_jw j;

    st_jw_init(&j, out);
    st_jw_object(&j);
    if (end)
        st_jw_kbool(&j, "end", true);
    st_jw_kstr(&j, "id", w->watch->order.id);
    st_jw_kbool(&j, "ok", true);
    st_jw_kint(&j, "seq", (int64_t)st_trace_seq(w->pipeline.trace));
    st_jw_end(&j, '}');
}

bool st_answer_events(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                      struct st_buf *out)
{
    const struct st_json_node *since_node = st_json_get(body, "since");
    bool follow = st_json_true(st_json_get(body, "follow"));
    struct st_interest filter;
    int64_t since = 0;

    if (!read_set(st_json_get(body, "types"), st_event_type_by_name, &filter.types) ||
        !read_set(st_json_get(body, "verdicts"), st_result_by_name, &filter.results) ||
        (since_node && (!st_json_int(since_node, &since) || since < 0))) {
        st_control_refusal(out, "bad_request",
                           "types and verdicts are arrays of the words of a record, since is a seq");
        return true;
    }
    write_place(w, out, false);
    st_buf_addc(out, '\n');
    /* A follower who names no place wants what comes. */
    if (since_node || !follow)
        write_backlog(w, &filter, (uint64_t)since, out);
    client->follows = follow;
    client->filter = filter;
    if (!follow)
        write_place(w, out, true);
    else if (out->len)
        out->len--; /* the newline is the caller's */
    return true;
}

/* ---- pending ---- */

/* The rule of the verdict, where it is still the same policy. */
static const struct st_rule *rule_of(const struct st_worker *w, const struct st_json_node *event)
{
    const struct st_json_node *verdict = st_json_get(event, "verdict");
    const char *id = st_json_str(st_json_get(verdict, "policy_rule"), NULL);
    const char *sha256 = st_json_str(st_json_get(verdict, "policy_sha256"), NULL);
    const struct st_rule *rules;
    size_t n = st_policy_rules(w->pipeline.policy, &rules);

    if (!id || !sha256 || !strstr(sha256, st_policy_sha256(w->pipeline.policy)))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (rules[i].id && strcmp(rules[i].id, id) == 0)
            return &rules[i];
    return NULL;
}

static void write_rule_place(struct st_jw *j, const struct st_worker *w, const struct st_pause *p)
{
    st_auto_json doc = NULL;
    const struct st_rule *rule = NULL;

    if (p->line && st_json_parse(p->line, strcspn(p->line, "\n"), ST_JSON_DEFAULT_LIMITS, &doc, NULL) == 0)
        rule = rule_of(w, st_json_root(doc));
    if (!rule || !rule->at.file)
        return;
    st_jw_kstr(j, "rule_file", rule->at.file);
    st_jw_kint(j, "rule_line", rule->at.line);
}

static void write_pause(struct st_jw *j, const struct st_worker *w, const struct st_pause *p, bool details)
{
    char since[ST_RFC3339_SIZE];

    st_format_rfc3339(p->since_us, since);
    st_jw_object(j);
    st_jw_kbool(j, "by_person", p->by_person);
    st_jw_key(j, "event");
    if (p->line && details)
        st_jw_raw(j, p->line, strcspn(p->line, "\n"));
    else
        st_jw_null(j);
    st_jw_key(j, "expires_ms");
    if (p->deadline_ns)
        st_jw_int(j, (p->deadline_ns - st_now_mono_ns()) / 1000000);
    else
        st_jw_null(j);
    st_jw_kbool(j, "held", p->held);
    if (!p->by_person)
        st_jw_kstr(j, "on_timeout", st_on_timeout_name(st_policy_pause(w->pipeline.policy)->on_timeout));
    st_jw_kstr(j, "pause_id", p->id);
    if (details)
        write_rule_place(j, w, p);
    st_jw_kstr(j, "since", since);
    st_jw_end(j, '}');
}

bool st_answer_pending(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                       struct st_buf *out)
{
    const char *only = st_json_str(st_json_get(body, "pause_id"), NULL);
    struct st_jw j;

    (void)client;
    st_jw_init(&j, out);
    st_jw_object(&j);
    st_jw_kstr(&j, "id", w->watch->order.id);
    st_jw_kbool(&j, "ok", true);
    st_jw_key(&j, "pending");
    st_jw_array(&j);
    for (const struct st_pause *p = w->pipeline.pauses.first; p; p = p->next)
        if (!only || strcmp(p->id, only) == 0)
            write_pause(&j, w, p,
                        out->len + (p->line ? strlen(p->line) : 0) < PENDING_DETAILS || only != NULL);
    st_jw_end(&j, ']');
    st_jw_end(&j, '}');
    return true;
}

/* ---- summary ---- */

struct count {
    const char *name;
    uint64_t n;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct count *)a)->name, ((const struct count *)b)->name);
}

/* Members of an object stand in order; the words of an enumeration do not. */
static void write_counts(struct st_jw *j, const char *key, struct count *counts, size_t n)
{
    qsort(counts, n, sizeof(*counts), by_name);
    st_jw_key(j, key);
    st_jw_object(j);
    for (size_t i = 0; i < n; i++)
        if (counts[i].n)
            st_jw_kint(j, counts[i].name, (int64_t)counts[i].n);
    st_jw_end(j, '}');
}

bool st_answer_summary(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                       struct st_buf *out)
{
    struct count types[ST_EV_TYPES], results[ST_NEWS_RESULTS];
    struct st_jw j;

    (void)client;
    (void)body;
    for (unsigned i = 0; i < ST_EV_TYPES; i++)
        types[i] = (struct count){st_event_type_name(i), w->news.by_type[i]};
    for (unsigned i = 0; i < ST_NEWS_RESULTS; i++)
        results[i] = (struct count){st_result_name(i), w->news.by_result[i]};
    st_jw_init(&j, out);
    st_jw_object(&j);
    write_counts(&j, "by_type", types, ST_EV_TYPES);
    write_counts(&j, "by_verdict", results, ST_NEWS_RESULTS);
    st_jw_kint(&j, "events", (int64_t)atomic_load(&w->watch->pulse->events));
    st_jw_kint(&j, "grants", (int64_t)w->pipeline.grants.n);
    st_jw_kstr(&j, "id", w->watch->order.id);
    st_jw_kbool(&j, "ok", true);
    st_jw_kint(&j, "refused", (int64_t)atomic_load(&w->watch->pulse->refused));
    st_jw_kint(&j, "seq", (int64_t)st_trace_seq(w->pipeline.trace));
    st_jw_kint(&j, "uptime_ms", (st_now_mono_ns() - w->watch->started_ns) / 1000000);
    st_jw_end(&j, '}');
    return true;
}
