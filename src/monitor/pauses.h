/* pauses: what stands still and why: held operations, and the freeze that goes with them.
 *
 * The container is frozen for as long as there is one open pause, and thawed by the end of the last. Who
 * freezes here tells the warden through the pulse, so that the end of a stall does not thaw a pause. */
#pragma once

#include "audit/record.h"
#include "base/error.h"
#include "model/verdict.h"
#include "monitor/grants.h"
#include "monitor/operation.h"
#include "monitor/watch.h"

#include <stdbool.h>
#include <stdint.h>

#define ST_PAUSE_ID_SIZE sizeof("pau_0123456789ab")

enum st_decision { ST_DECIDE_ONCE, ST_DECIDE_ALWAYS, ST_DECIDE_DENY, ST_DECIDE_KILL, ST_DECIDE_TIMEOUT };

/* What somebody may be killed for. */
struct st_violation {
    char cause[16]; /* who ends it: policy, timeout, person, engine, ended (from outside, while it was paused)
                     */
    enum st_severity severity;
    char event_id[ST_EVENT_ID_SIZE], rule[256], reason[1024];
};

struct st_pause {
    struct st_pause *next;
    char id[ST_PAUSE_ID_SIZE];
    struct st_operation op; /* waits where held */
    bool held;
    bool by_person;                 /* no violation: somebody wants it to stand still */
    int64_t since_us;               /* wall time */
    int64_t deadline_ns;            /* monotonic; 0: never */
    struct st_grants proposal;      /* what `approve --always` would grant */
    struct st_event_copy *event;    /* that caused it; NULL: none */
    struct st_violation *violation; /* NULL: none */
    char *line;                     /* the record of the event that caused it, as it stands in the trace */
};

struct st_pauses {
    struct st_watch *watch;
    struct st_pause *first, **last;
    size_t n;
    bool others_wait; /* operations behind the present one are read, and wait for us too */
    bool doomed;      /* it stands still until it is killed: nothing thaws it any more */
    bool stuck;       /* nothing may go on for a reason of our own, whatever is decided about pauses */
};

void st_pauses_init(struct st_pauses *p, struct st_watch *watch);

/* Step one of a pause, before anything is answered. 0 or -errno. */
int st_pauses_freeze(struct st_pauses *p);

/* Step three: does everything stand still? An operation that waits for our answer, be it held or not yet
 * looked at, keeps a v2 group from ever saying so: there only the order counts, and the answer is true at
 * once. held: the present one is to wait. */
bool st_pauses_confirm(const struct st_pauses *p, bool held);

/* For as long as the trace can't be written it stands still, besides all pauses. */
void st_pauses_stick(struct st_pauses *p);
void st_pauses_unstick(struct st_pauses *p);

/* Enter the pause; the operation is taken over. The caller adds line and proposal. */
struct st_pause *st_pauses_add(struct st_pauses *p, struct st_operation *op, int64_t timeout_ms);

/* By id or a beginning of it that only one has. NULL: none, or (with *ambiguous) several. */
struct st_pause *st_pauses_find(const struct st_pauses *p, const char *id, bool *ambiguous);

/* Answer, forget, and thaw with the last one, unless stuck. */
void st_pauses_end(struct st_pauses *p, struct st_pause *pause, bool allow);

/* Refuse all that is held; thaw or not. */
void st_pauses_end_all(struct st_pauses *p, bool thaw);

/* The worst violation for which it stands still; NULL: for none. */
const struct st_violation *st_pauses_worst(const struct st_pauses *p);

/* The earliest deadline, or -1; and the pause that it belongs to. */
int64_t st_pauses_deadline(const struct st_pauses *p, struct st_pause **which);
