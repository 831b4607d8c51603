/* rejudge: what a policy says of events that are in a trace already, with the same code that the monitor
 * uses. */
#pragma once

#include "audit/decode.h"
#include "base/error.h"
#include "cli/cli.h"
#include "policy/policy.h"

struct st_rejudge;

/* A policy by name or path, as st_load_policy_here takes it; names are looked for in the configuration's
 * folders. What is wrong with it is printed. */
struct st_rejudge *st_rejudge_new(const struct st_cli *cli, const struct st_verb *verb, const char *policy);
/* As st_policy_load; but `my.yaml` in the current directory is meant before a policy of that name. */
int st_load_policy_here(const char *what, const struct st_policy_source *source, struct st_policy **out,
                        struct st_diagnostics *diags, struct st_error *err);
/* By a policy that is loaded already. */
struct st_rejudge *st_rejudge_of(struct st_policy *policy);
void st_rejudge_free(struct st_rejudge *j);
void st_rejudge_freep(struct st_rejudge **j);
#define st_auto_rejudge __attribute__((cleanup(st_rejudge_freep))) struct st_rejudge *

/* The verdict, until the next one. Events that no policy speaks of (lifecycle, checkpoint …) are allowed. */
void st_rejudge_event(struct st_rejudge *j, const struct st_decoded *d, struct st_verdict *out);
/* The same, and why; false: no policy speaks of such an event, and *x is not touched. */
bool st_rejudge_explain(struct st_rejudge *j, const struct st_decoded *d, struct st_verdict *out,
                        struct st_explanation *x);
const char *st_rejudge_name(const struct st_rejudge *j);

/* Was the operation refused at the time, so that nothing came of it? */
bool st_was_refused(const struct st_decoded *d);
