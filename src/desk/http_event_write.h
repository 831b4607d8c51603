/* http_event_write: an event as the review desk tells it, from a row of the database. */
#pragma once

#include "base/json_write.h"
#include "desk/db.h"

#define ST_EVENT_SELECT                                                                                      \
    "SELECT e.id, e.analysis_id, t.container, t.name, e.seq, e.event_id, e.ts, e.kind, e.path_or_addr,"      \
    " e.severity, e.result, e.action, e.rule, e.reason, e.allowed, e.blocked, e.chain, e.raw_detail"         \
    " FROM sandbox_audit_event e JOIN trace t ON t.no = e.trace"

/* One row of ST_EVENT_SELECT. */
void st_event_write(struct st_jw *w, sqlite3_stmt *s);

/* A text, or null. */
void st_jw_ktext(struct st_jw *w, const char *key, struct st_str text);

/* Microseconds since 1970 as RFC 3339. */
void st_jw_ktime(struct st_jw *w, const char *key, int64_t us);
