/* verb_policy: what the parts of `sandtrace policy` share. */
#pragma once

#include "base/json_write.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/policy_event.h"
#include "config/config.h"
#include "policy/policy.h"
#include "policy/rule.h"

struct policy_cmd {
    struct st_cli *cli;
    const struct st_verb *verb;
    struct st_policy_source source;
    struct st_event_words words;
    const char *trace, *expect, *container;
    bool all, strict;
    bool depth_by_policy; /* by the configuration */
};

/* By name, by path, or `-` for standard input. What is wrong with it goes to standard error, warnings only
 * where wanted. Returns an exit code. */
int st_policy_cmd_load(const struct policy_cmd *c, const char *what, bool warnings, struct st_policy **out);

/* For a path or reason that somebody else chose. */
void st_put_str(struct st_str s);
void st_put_text(const char *s);

/* One rule as one line of YAML, without its id: for reading, and for comparing. */
void st_rule_text(const struct st_rule *rule, struct st_buf *out);

/* The rule that decided, with its line, and the rules tried before it with the reason why each did not; as
 * text, or as the members `file`, `line` and `tried` of the object being written. */
void st_put_why(const struct policy_cmd *c, const struct st_policy *p, const struct st_explanation *x,
                const struct st_event *e);
void st_json_rule(struct st_jw *w, const struct st_policy *p, const struct st_explanation *x);
void st_json_tried(struct st_jw *w, const struct st_policy *p, const struct st_explanation *x,
                   const struct st_event *e);

int st_policy_check(struct policy_cmd *c, int argc, char **args);
int st_policy_list(struct policy_cmd *c, int argc, char **args);
int st_policy_show(struct policy_cmd *c, int argc, char **args);
int st_policy_explain_plan(struct policy_cmd *c, int argc, char **args);
int st_policy_test(struct policy_cmd *c, int argc, char **args);
int st_policy_expect(struct policy_cmd *c, int argc, char **args);
int st_policy_diff(struct policy_cmd *c, int argc, char **args);

/* The same with the events of c->trace. */
int st_policy_test_trace(struct policy_cmd *c, struct st_policy *p);
int st_policy_diff_trace(struct policy_cmd *c, struct st_policy *a, struct st_policy *b);
