/* filter: which events of a trace are wanted. Paths and hosts are matched by the policy engine itself, so
 * that a pattern means here what it means in a policy. */
#pragma once

#include "audit/decode.h"
#include "base/error.h"
#include "policy/policy.h"

#define ST_OUTCOMES 5 /* allow, deny, anomaly, paused, killed */

struct st_filter {
    uint32_t types;    /* bits of enum st_event_type; 0: all */
    unsigned tiers;    /* bits of enum st_tier; 0: all */
    unsigned outcomes; /* bits of the words of st_show_outcome(); 0: all */
    int64_t since_us, until_us;
    struct st_policy *path, *host; /* NULL: any */
    struct st_counters *path_counters, *host_counters;
};

void st_filter_init(struct st_filter *f);
void st_filter_free(struct st_filter *f);
#define st_auto_filter __attribute__((cleanup(st_filter_free))) struct st_filter

/* Words separated by commas. */
int st_filter_types(struct st_filter *f, const char *words, struct st_error *err);
int st_filter_tiers(struct st_filter *f, const char *words, struct st_error *err);
int st_filter_outcomes(struct st_filter *f, const char *words, struct st_error *err);
int st_filter_path(struct st_filter *f, const char *glob, struct st_error *err);
int st_filter_host(struct st_filter *f, const char *pattern, struct st_error *err);

/* A time of RFC 3339, or a duration before now: "10m". */
int st_filter_time(int64_t *out, const char *text, struct st_error *err);

bool st_filter_wants(struct st_filter *f, const struct st_decoded *d, const struct st_verdict *v);
