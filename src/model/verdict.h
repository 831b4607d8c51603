/* verdict: what the policy says of an event, and what was done about it. formats.md, 2. */
#pragma once

#include "model/str.h"

enum st_result { ST_ALLOW, ST_DENY, ST_ANOMALY };
enum st_severity { ST_SEV_NONE, ST_SEV_LOW, ST_SEV_MEDIUM, ST_SEV_HIGH, ST_SEV_CRITICAL };
enum st_action { ST_ACT_NONE, ST_ACT_DENIED, ST_ACT_PAUSED, ST_ACT_KILLED };

/* What the policy wants done at a violation (`on_violation`). */
enum st_response { ST_RESPOND_RECORD, ST_RESPOND_DENY, ST_RESPOND_PAUSE, ST_RESPOND_KILL };

struct st_verdict {
    enum st_result result;
    enum st_severity severity;
    enum st_response response; /* asked for by the policy; not part of the record */
    enum st_action action;     /* done by respond */
    struct st_str rule;        /* id; p == NULL: no rule matched, the default decided */
    struct st_str reason;
    const char *policy_sha256; /* hex; NULL: no policy was loaded */
};

const char *st_result_name(enum st_result r);
const char *st_severity_name(enum st_severity s);
const char *st_action_name(enum st_action a);
const char *st_response_name(enum st_response r);

/* By name; -1 where there is none such. */
int st_result_by_name(struct st_str name);
int st_severity_by_name(struct st_str name);
int st_action_by_name(struct st_str name);
int st_response_by_name(struct st_str name);
