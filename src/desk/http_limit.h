/* http_limit: so many at once, and then one each so often. The clock is the caller's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct st_limit {
    unsigned burst;
    int64_t each_ns; /* one more after that */
    /* The limit's own. */
    unsigned used;
    int64_t since_ns;
};

/* May there be another one? Seconds to wait are in *wait where not. */
bool st_limit_allows(struct st_limit *l, int64_t now_ns, unsigned *wait);

/* There was one. */
void st_limit_count(struct st_limit *l, int64_t now_ns);
