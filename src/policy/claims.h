/* claims: which opens a rule may have something to say about. Private to src/policy. */
#pragma once

#include "policy/rule.h"

struct claim {
    const char *pattern; /* of the path */
    unsigned access;     /* ST_ACCESS_* */
};

/* Those of a rule that may refuse, or that counts: for each pattern of its paths. */
typedef void claim_taker(void *ctx, const struct claim *c);
void st_claims_of(const struct st_rule *rule, claim_taker *take, void *ctx);

/* Is it about opens whatever their path? */
bool st_claims_all(const struct st_rule *rule);
