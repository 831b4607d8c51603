/* pipeline_decide: what becomes of what waits: a person's decision, or the clock's. Recorded first, then
 * carried out. See pipeline.h. */
#include "monitor/pipeline_private.h"

#include "base/clock.h"
#include "model/event_copy.h"
#include "monitor/fault.h"
#include "monitor/kept.h"
#include "monitor/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void st_pipeline_release(struct st_pipeline *p, struct st_pause *pause, const struct st_decider *by)
{
    struct st_error err = {0};
    int64_t start = st_now_mono_ns();

    st_operation_answer(&pause->op, false);
    pause->held = false;
    st_pauses_confirm(&p->pauses, false);
    if (st_pipeline_note_pause(p, pause, NULL, (st_now_mono_ns() - start) / 1000, by, &err) < 0 &&
        p->trace_failed)
        p->trace_failed(p->ctx, &err);
}

static const char *decision_name(enum st_decision d)
{
    static const char *const names[] = {"allow-once", "allow-always", "deny", "kill", "timeout"};

    return names[d];
}

/* pause_id NULL: a decision about the container as a whole. */
static int note_decision(struct st_pipeline *p, const char *pause_id, enum st_decision decision,
                         const struct st_decider *by, struct st_error *err)
{
    st_auto_buf json = ST_BUF_INIT;
    struct st_jw w;

    st_jw_init(&w, &json);
    st_jw_object(&w);
    st_decider_write(&w, by);
    st_jw_kstr(&w, "decision", decision_name(decision));
    st_jw_kstr_or_null(&w, "pause_id", pause_id);
    st_jw_kstr_or_null(&w, "reason", by->reason);
    st_jw_end(&w, '}');
    return st_pipeline_note(p, ST_EV_SECURITY_RESUME, ST_TIER_DERIVED, json.data, json.len, true, err);
}

/* Of the network it is for the rest of the trace, else for this run. */
static bool is_kept(const struct st_pause *pause)
{
    return pause->event && pause->line && st_kept_concerns(&pause->event->ev);
}

static int note_grant(struct st_pipeline *p, const struct st_pause *pause, struct st_error *err)
{
    st_auto_buf json = ST_BUF_INIT;
    struct st_jw w;

    st_jw_init(&w, &json);
    st_jw_object(&w);
    st_jw_kstr(&w, "change", "grant");
    st_jw_kstr(&w, "pause_id", pause->id);
    st_jw_kstr(&w, "scope", is_kept(pause) ? "trace" : "run");
    st_jw_end(&w, '}');
    return st_pipeline_note(p, ST_EV_POLICY_CHANGE, ST_TIER_DERIVED, json.data, json.len, true, err);
}

/* Where it can't be kept, it holds for this run all the same; and that is said. */
static void grant(struct st_pipeline *p, struct st_pause *pause)
{
    st_auto_buf payload = ST_BUF_INIT;
    struct st_error err = {0}, failed = {0};

    st_grants_move(&p->grants, &pause->proposal);
    if (!is_kept(pause) || st_kept_add(p->watch->order.trace_path, pause->line, &err) == 0)
        return;
    st_record_sensor(&payload, "approvals", "degraded", err.msg);
    if (st_pipeline_note(p, ST_EV_SENSOR, ST_TIER_DERIVED, payload.data, payload.len, false, &failed) < 0 &&
        p->trace_failed)
        p->trace_failed(p->ctx, &failed);
}

/* All that waits gets the same decision, but for the one that has it already. */
static int note_kill(struct st_pipeline *p, const struct st_pause *but, const struct st_decider *by,
                     struct st_error *err)
{
    for (const struct st_pause *i = p->pauses.first; i; i = i->next)
        if (i != but && note_decision(p, i->id, ST_DECIDE_KILL, by, err) < 0)
            return -err->errnum;
    return 0;
}

/* Wherever a person says it: at the control socket, or at the review desk. */
static const char *cause_of(const struct st_decider *by)
{
    return strcmp(by->how, "control") == 0 || strcmp(by->how, "desk") == 0 ? "person" : by->how;
}

static void carry_out_kill(struct st_pipeline *p, const struct st_decider *by)
{
    const struct st_violation *worst = st_pauses_worst(&p->pauses);
    struct st_violation why = {0};

    if (worst) {
        why = *worst;
        snprintf(why.cause, sizeof(why.cause), "%.15s", cause_of(by));
    }
    st_pauses_end_all(&p->pauses, false);
    if (p->kill)
        p->kill(p->ctx, worst ? &why : NULL);
}

void st_pipeline_decide(struct st_pipeline *p, struct st_pause *pause, enum st_decision decision,
                        const struct st_decider *by)
{
    struct st_error err = {0};
    bool allow = decision == ST_DECIDE_ONCE || decision == ST_DECIDE_ALWAYS;

    if (decision == ST_DECIDE_TIMEOUT)
        allow = st_policy_pause(p->policy)->on_timeout == ST_TIMEOUT_RESUME;
    if (note_decision(p, pause->id, decision, by, &err) < 0 ||
        (decision == ST_DECIDE_ALWAYS && note_grant(p, pause, &err) < 0)) {
        if (p->trace_failed)
            p->trace_failed(p->ctx, &err);
        return;
    }
    st_fault(p->watch, "decided");
    if (decision == ST_DECIDE_ALWAYS)
        grant(p, pause);
    if (decision == ST_DECIDE_KILL ||
        (decision == ST_DECIDE_TIMEOUT && st_policy_pause(p->policy)->on_timeout == ST_TIMEOUT_KILL)) {
        if (note_kill(p, pause, by, &err) < 0 && p->trace_failed)
            p->trace_failed(p->ctx, &err);
        carry_out_kill(p, by);
        return;
    }
    if (allow && pause->event && pause->event->ev.type == ST_EV_FILESYSTEM)
        st_summary_use(&p->summary, &pause->event->ev.fs);
    st_pauses_end(&p->pauses, pause, allow);
    st_fault(p->watch, "thawed");
}

int st_pipeline_kill(struct st_pipeline *p, const struct st_decider *by, struct st_error *err)
{
    int rc = p->pauses.first ? note_kill(p, NULL, by, err) : note_decision(p, NULL, ST_DECIDE_KILL, by, err);

    if (rc < 0 && p->trace_failed)
        p->trace_failed(p->ctx, err);
    /* To end it needs no permission: it is carried out whether it could be recorded or not. */
    carry_out_kill(p, by);
    return rc;
}

struct st_pause *st_pipeline_hold(struct st_pipeline *p, const struct st_decider *by, struct st_error *err)
{
    struct st_operation none = ST_OPERATION_NONE;
    int64_t start = st_now_mono_ns();
    struct st_pause *entry;
    int rc;

    rc = st_pauses_freeze(&p->pauses);
    entry = st_pauses_add(&p->pauses, &none, 0);
    entry->by_person = true;
    if (rc < 0) {
        st_fail(err, -rc, "%s", p->watch->can_freeze ? strerror(-rc) : p->watch->no_freeze);
    } else if (!st_pauses_confirm(&p->pauses, false)) {
        st_fail(err, ETIMEDOUT, "not all of it stands still");
    } else if (st_pipeline_note_pause(p, entry, NULL, (st_now_mono_ns() - start) / 1000, by, err) == 0) {
        return entry;
    } else if (p->trace_failed) {
        p->trace_failed(p->ctx, err);
    }
    st_pauses_end(&p->pauses, entry, false);
    return NULL;
}
