/* pipeline: see pipeline.h. */
#include "monitor/pipeline_private.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "model/event_copy.h"
#include "monitor/fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- recording ---- */

static int append(struct st_pipeline *p, const struct st_event *ev, const struct st_verdict *v,
                  char event_id[ST_EVENT_ID_SIZE], struct st_error *err)
{
    if (st_trace_append(p->trace, ev, v, event_id, err) < 0)
        return -err->errnum;
    atomic_fetch_add(&p->watch->pulse->events, 1);
    if (v && v->result != ST_ALLOW)
        atomic_fetch_add(&p->watch->pulse->refused, 1);
    return 0;
}

static int record(struct st_pipeline *p, const struct st_event *ev, const struct st_verdict *v,
                  char event_id[ST_EVENT_ID_SIZE], struct st_error *err)
{
    int rc = append(p, ev, v, event_id, err);

    if (rc < 0)
        p->not_recorded++;
    return rc;
}

int st_pipeline_note(struct st_pipeline *p, enum st_event_type type, enum st_tier tier, const char *json,
                     size_t len, bool force, struct st_error *err)
{
    struct st_event ev = {
        .type = type, .tier = tier, .wall_us = st_now_wall_us(), .json = {.p = json, .len = len}};
    struct st_verdict v = {.result = ST_ALLOW,
                           .policy_sha256 = p->policy ? st_policy_sha256(p->policy) : NULL};
    char id[ST_EVENT_ID_SIZE];

    if (record(p, &ev, &v, id, err) < 0)
        return -err->errnum;
    return force ? st_trace_force(p->trace, err) : 0;
}

void st_jw_kstr_or_null(struct st_jw *w, const char *key, const char *value)
{
    st_jw_key(w, key);
    if (value)
        st_jw_str(w, value);
    else
        st_jw_null(w);
}

void st_decider_write(struct st_jw *w, const struct st_decider *by)
{
    st_jw_key(w, "by");
    st_jw_object(w);
    st_jw_kstr(w, "how", by->how);
    st_jw_kstr(w, "name", by->name);
    if (by->uid != ST_UNKNOWN)
        st_jw_kint(w, "uid", by->uid);
    st_jw_end(w, '}');
}

int st_pipeline_note_pause(struct st_pipeline *p, const struct st_pause *pause, const char *cause,
                           int64_t freeze_us, const struct st_decider *by, struct st_error *err)
{
    st_auto_buf json = ST_BUF_INIT;
    char expires[ST_RFC3339_SIZE];
    struct st_jw w;

    st_jw_init(&w, &json);
    st_jw_object(&w);
    if (by)
        st_decider_write(&w, by);
    st_jw_kstr_or_null(&w, "cause", cause);
    if (pause->deadline_ns)
        st_format_rfc3339(pause->since_us + (pause->deadline_ns - st_now_mono_ns()) / 1000, expires);
    st_jw_kstr_or_null(&w, "expires", pause->deadline_ns ? expires : NULL);
    st_jw_kint(&w, "freeze_us", freeze_us);
    st_jw_kbool(&w, "held", pause->held);
    st_jw_kstr(&w, "pause_id", pause->id);
    if (by)
        st_jw_kstr_or_null(&w, "reason", by->reason);
    st_jw_end(&w, '}');
    return st_pipeline_note(p, ST_EV_SECURITY_PAUSE, ST_TIER_KERNEL, json.data, json.len, true, err);
}

/* ---- responding ---- */

/* What is done, given what the policy asks and what can be done: where nothing waits there is nothing to
 * refuse, where nothing can be frozen a pause is a kill. */
static enum st_response response_of(const struct st_pipeline *p, const struct st_verdict *v)
{
    if (v->result == ST_ALLOW)
        return ST_RESPOND_RECORD;
    if (v->response == ST_RESPOND_PAUSE && !p->watch->can_freeze)
        return ST_RESPOND_KILL;
    return v->response;
}

static void mark_blocked(struct st_event *ev)
{
    switch (ev->type) {
    case ST_EV_FILESYSTEM: ev->fs.blocked = true; break;
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS: ev->net.blocked = true; break;
    case ST_EV_DNS_QUERY: ev->dns.blocked = true; break;
    case ST_EV_PROCESS: ev->proc.blocked = true; break;
    case ST_EV_SYSCALL: ev->sys.blocked = true; break;
    case ST_EV_LIFECYCLE:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
}

static void fail_closed(struct st_pipeline *p, struct st_operation *op, const struct st_error *err)
{
    st_operation_answer(op, false);
    if (p->trace_failed)
        p->trace_failed(p->ctx, err);
}

/* Recorded or counted before it is answered: a permission that is not on the trace does not exist. */
static void let_by(struct st_pipeline *p, struct st_event *ev, struct st_verdict *v, struct st_operation *op)
{
    struct st_error err = {0};
    char id[ST_EVENT_ID_SIZE];
    bool counted = p->fold && st_fold_add(p->fold, ev, v, st_now_mono_ns());

    if (!counted) {
        st_operation_tell_all(op, ev);
        if (record(p, ev, v, id, &err) < 0) {
            fail_closed(p, op, &err);
            return;
        }
    }
    atomic_fetch_add(&p->watch->pulse->unwritten, 1);
    st_fault(p->watch, "let");
    st_operation_answer(op, true);
    if (ev->type == ST_EV_FILESYSTEM)
        st_summary_use(&p->summary, &ev->fs);
}

static void refuse(struct st_pipeline *p, struct st_event *ev, struct st_verdict *v, struct st_operation *op)
{
    struct st_error err = {0};
    char id[ST_EVENT_ID_SIZE];
    bool waits = st_operation_waits(op);

    v->action = waits ? ST_ACT_DENIED : ST_ACT_NONE;
    if (waits)
        mark_blocked(ev);
    st_operation_answer(op, false);
    if (record(p, ev, v, id, &err) < 0 || st_trace_force(p->trace, &err) < 0)
        fail_closed(p, op, &err);
}

static void describe(struct st_violation *out, const struct st_verdict *v, const char *event_id)
{
    *out = (struct st_violation){.cause = "policy", .severity = v->severity};
    memcpy(out->event_id, event_id, sizeof(out->event_id));
    snprintf(out->rule, sizeof(out->rule), "%.*s", (int)v->rule.len, v->rule.p ? v->rule.p : "");
    snprintf(out->reason, sizeof(out->reason), "%.*s", (int)v->reason.len, v->reason.p ? v->reason.p : "");
}

static void pause(struct st_pipeline *p, struct st_event *ev, struct st_verdict *v, struct st_operation *op,
                  int64_t seen_ns)
{
    const struct st_pause_policy *how = st_policy_pause(p->policy);
    struct st_error err = {0};
    char id[ST_EVENT_ID_SIZE];
    struct st_pause *entry;
    struct st_str line;
    int64_t freeze_us;
    bool waits = st_operation_waits(op), hold = how->hold && !p->engine_acts && waits;

    st_fault(p->watch, "seen");
    st_pauses_freeze(&p->pauses);
    if (st_lifecycle_dying(&p->watch->life)) {
        st_pauses_end_all(&p->pauses, true);
        refuse(p, ev, v, op);
        return;
    }
    st_fault(p->watch, "asked");
    if (!hold)
        st_operation_answer(op, false);
    st_fault(p->watch, "answered");
    st_pauses_confirm(&p->pauses, hold);
    st_fault(p->watch, "frozen");
    freeze_us = (st_now_mono_ns() - seen_ns) / 1000;
    entry = st_pauses_add(&p->pauses, op, how->timeout_ms);
    v->action = ST_ACT_PAUSED;
    if (waits || ev->type != ST_EV_PROCESS) /* a process that is there was kept from nothing */
        mark_blocked(ev);
    if (record(p, ev, v, id, &err) < 0) {
        fail_closed(p, &entry->op, &err);
        return;
    }
    st_fault(p->watch, "recorded");
    line = st_trace_line(p->trace);
    entry->line = st_xstrndup(line.p, line.len);
    st_grants_add(&entry->proposal, ev, entry->id);
    entry->event = st_event_copy(ev, NULL);
    entry->violation = st_xmalloc(sizeof(*entry->violation));
    describe(entry->violation, v, id);
    if (st_pipeline_note_pause(p, entry, id, freeze_us, NULL, &err) < 0)
        fail_closed(p, &entry->op, &err);
    st_fault(p->watch, "paused");
}

static void end(struct st_pipeline *p, struct st_event *ev, struct st_verdict *v, struct st_operation *op)
{
    struct st_error err = {0};
    char id[ST_EVENT_ID_SIZE] = "";
    struct st_violation why;

    st_pauses_freeze(&p->pauses);
    st_operation_answer(op, false);
    v->action = ST_ACT_KILLED;
    mark_blocked(ev);
    if (record(p, ev, v, id, &err) == 0)
        st_trace_force(p->trace, &err);
    describe(&why, v, id);
    if (p->kill)
        p->kill(p->ctx, &why);
}

static void find_verdict(struct st_pipeline *p, struct st_counters *counters, const struct st_event *ev,
                         struct st_verdict *v)
{
    const char *grant;

    st_policy_eval(p->policy, counters, ev, v);
    if (v->result == ST_ALLOW)
        return;
    grant = st_grants_cover(&p->grants, ev);
    if (!grant)
        return;
    v->result = ST_ALLOW;
    v->rule = st_str(grant);
    v->reason = ST_STR_LIT("approved for this run");
}

bool st_pipeline_would_let(struct st_pipeline *p, const struct st_event *ev, struct st_verdict *v)
{
    if (p->probed != p->policy) {
        st_counters_free(p->probe);
        p->probe = st_counters_new(p->policy);
        p->probed = p->policy;
    }
    find_verdict(p, p->probe, ev, v);
    return v->result == ST_ALLOW;
}

void st_pipeline_respond(struct st_pipeline *p, const struct st_event *seen, struct st_verdict *v,
                         struct st_operation *op, int64_t seen_ns)
{
    enum st_response response = response_of(p, v);
    struct st_event ev = *seen;

    if (response != ST_RESPOND_RECORD)
        st_operation_tell_all(op, &ev);
    switch (response) {
    case ST_RESPOND_RECORD: let_by(p, &ev, v, op); break;
    case ST_RESPOND_DENY: refuse(p, &ev, v, op); break;
    case ST_RESPOND_PAUSE: pause(p, &ev, v, op, seen_ns); break;
    case ST_RESPOND_KILL: end(p, &ev, v, op); break;
    }
}

void st_pipeline_use(struct st_pipeline *p, const struct st_event *ev, struct st_operation *op,
                     int64_t seen_ns)
{
    struct st_verdict v = {0};

    find_verdict(p, p->counters, ev, &v);
    st_pipeline_respond(p, ev, &v, op, seen_ns);
}

void st_pipeline_outcome(struct st_pipeline *p, const struct st_event *ev)
{
    struct st_operation none = ST_OPERATION_NONE;
    struct st_verdict v = {0};

    find_verdict(p, p->counters, ev, &v);
    v.response = ST_RESPOND_RECORD;
    st_pipeline_respond(p, ev, &v, &none, 0);
}

void st_pipeline_refuse(struct st_pipeline *p, const struct st_event *seen, struct st_operation *op,
                        const char *reason)
{
    struct st_verdict v = {.result = ST_DENY,
                           .severity = ST_SEV_MEDIUM,
                           .response = ST_RESPOND_DENY,
                           .reason = st_str(reason),
                           .policy_sha256 = st_policy_sha256(p->policy)};
    struct st_event ev = *seen;

    refuse(p, &ev, &v, op);
}

/* ---- folding ---- */

int st_pipeline_unfold(struct st_pipeline *p, int64_t now_ns, struct st_error *err)
{
    char id[ST_EVENT_ID_SIZE];
    const struct st_event *ev;
    const struct st_verdict *v;

    while (p->fold && st_fold_peek(p->fold, now_ns, &ev, &v)) {
        if (append(p, ev, v, id, err) < 0)
            return -err->errnum;
        st_fold_drop(p->fold);
    }
    return 0;
}

int st_pipeline_fold(struct st_pipeline *p, struct st_error *err)
{
    const struct st_fold_options options = {.window_ns = st_policy_fold_ms(p->policy) * 1000000};

    if (st_pipeline_unfold(p, INT64_MAX, err) < 0)
        return -err->errnum;
    st_fold_free(p->fold);
    p->fold = options.window_ns ? st_fold_new(&options) : NULL;
    return 0;
}

void st_pipeline_written(struct st_pipeline *p)
{
    if (st_trace_deadline(p->trace) < 0)
        atomic_store(&p->watch->pulse->unwritten, p->fold ? st_fold_pending(p->fold) : 0);
}

/* ---- time ---- */

int64_t st_pipeline_deadline(const struct st_pipeline *p)
{
    struct st_pause *which;
    int64_t pause = st_pauses_deadline(&p->pauses, &which);
    int64_t fold = p->fold ? st_fold_deadline(p->fold) : -1;

    return pause < 0 || (fold >= 0 && fold < pause) ? fold : pause;
}

void st_pipeline_tick(struct st_pipeline *p)
{
    const struct st_decider nobody = {.how = "timeout", .uid = ST_UNKNOWN};
    struct st_pause *which = NULL;
    struct st_error err = {0};

    if (st_pipeline_unfold(p, st_now_mono_ns(), &err) < 0 && p->trace_failed)
        p->trace_failed(p->ctx, &err);
    while (st_pauses_deadline(&p->pauses, &which) >= 0 && which->deadline_ns <= st_now_mono_ns()) {
        size_t before = p->pauses.n;

        st_pipeline_decide(p, which, ST_DECIDE_TIMEOUT, &nobody);
        if (p->pauses.n == before) /* it could not be recorded */
            return;
    }
}
