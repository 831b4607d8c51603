/* pipeline: the way of one event, from a sensor to the trace, in one function.
 *
 *     event → policy → verdict → respond → record or count → chain → bus
 *
 * Sensors never decide, policy never acts, respond never logs, the trace never drops. At a violation that
 * pauses: freeze is asked for first, then the operation is refused or held, then the freeze is confirmed,
 * then the records are forced to disk, then the bus is told. */
#pragma once

#include "audit/fold.h"
#include "audit/trace.h"
#include "base/json_write.h"
#include "model/event.h"
#include "monitor/grants.h"
#include "monitor/operation.h"
#include "monitor/pauses.h"
#include "monitor/summary.h"
#include "monitor/watch.h"
#include "policy/policy.h"
#include "sensors/process_cache.h"

struct st_pipeline {
    struct st_watch *watch;
    struct st_policy *policy;
    struct st_counters *counters;
    struct st_counters *probe; /* of questions that do not count; NULL: none was asked of this policy */
    struct st_policy *probed;  /* the policy that it is of */
    struct st_trace *trace;
    struct st_fold *fold; /* repeated permitted uses; NULL: each is a record */
    uint64_t
        not_recorded; /* records that could not be made since the trace failed; their uses were refused */
    struct st_pauses pauses;
    struct st_grants grants; /* `approve --always` of this run */
    struct st_summary summary;
    struct st_process_cache *known; /* processes of the container; NULL: of a worker that took over */
    bool engine_acts;               /* nothing is held now, only refused: the engine would wait for it */
    /* The trace can't be written: nothing may go on. */
    void (*trace_failed)(void *ctx, const struct st_error *err);
    /* The policy, or somebody, wants it dead. why NULL: not for a violation. */
    void (*kill)(void *ctx, const struct st_violation *why);
    void *ctx;
};

/* A use. op is answered or taken over; one without an operation is judged after the fact. seen_ns: when the
 * kernel told us (monotonic). */
void st_pipeline_use(struct st_pipeline *p, const struct st_event *ev, struct st_operation *op,
                     int64_t seen_ns);

/* A use that is refused whatever the policy says, because what watches depends on it. */
void st_pipeline_refuse(struct st_pipeline *p, const struct st_event *ev, struct st_operation *op,
                        const char *reason);

/* What would be said of it; nothing is counted, recorded or done. The reason is valid until the next
 * question.
 */
bool st_pipeline_would_let(struct st_pipeline *p, const struct st_event *ev, struct st_verdict *v);

/* A use whose verdict is found already, such as an anomaly that no rule of the policy is about. */
void st_pipeline_respond(struct st_pipeline *p, const struct st_event *ev, struct st_verdict *v,
                         struct st_operation *op, int64_t seen_ns);

/* What came of a use that was judged when it began: judged again with what is known now, counted and
 * recorded; nothing else is done about it. */
void st_pipeline_outcome(struct st_pipeline *p, const struct st_event *ev);

/* A record of our own (lifecycle, sensor …), without a verdict to find. force: on disk before it returns. */
int st_pipeline_note(struct st_pipeline *p, enum st_event_type type, enum st_tier tier, const char *json,
                     size_t len, bool force, struct st_error *err);

struct st_decider {
    const char *how; /* "control", "desk", "timeout", "engine" */
    int64_t uid;     /* ST_UNKNOWN: nobody */
    const char *name, *reason;
};

/* As a member `by` of the object that is open. */
void st_decider_write(struct st_jw *w, const struct st_decider *by);

/* Refuse what a pause holds; the pause itself goes on, and says so on the trace. */
void st_pipeline_release(struct st_pipeline *p, struct st_pause *pause, const struct st_decider *by);

/* A pause gets its decision: recorded first, then carried out. */
void st_pipeline_decide(struct st_pipeline *p, struct st_pause *pause, enum st_decision decision,
                        const struct st_decider *by);

/* Somebody wants it to stand still: frozen, recorded with whom, until a decision. NULL: could not be frozen
 * or recorded; then all is as it was. */
struct st_pause *st_pipeline_hold(struct st_pipeline *p, const struct st_decider *by, struct st_error *err);

/* Somebody wants it dead. What waits is refused; each decision is recorded first. */
int st_pipeline_kill(struct st_pipeline *p, const struct st_decider *by, struct st_error *err);

/* The policy's window for folding; what was counted before is recorded. */
int st_pipeline_fold(struct st_pipeline *p, struct st_error *err);

/* What was counted becomes records: where its window has ended by now_ns (INT64_MAX: all of it). */
int st_pipeline_unfold(struct st_pipeline *p, int64_t now_ns, struct st_error *err);

/* After a commit: how much the trace of a worker that dies now would lack. */
void st_pipeline_written(struct st_pipeline *p);

/* Deadlines of pauses and counts: the next one (or -1), and what is due. */
int64_t st_pipeline_deadline(const struct st_pipeline *p);
void st_pipeline_tick(struct st_pipeline *p);
