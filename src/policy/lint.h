/* lint: what is allowed but probably not meant, as warnings. Private to src/policy. */
#pragma once

#include "policy/policy.h"

/* text of the top file, for the carets; rules of other files are shown without. */
void st_policy_lint(struct st_policy *policy, const struct st_diag_file *top, struct st_diagnostics *diags);
