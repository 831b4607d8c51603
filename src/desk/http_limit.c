/* http_limit: see http_limit.h. */
#include "desk/http_limit.h"

#define SECOND_NS INT64_C(1000000000)

static void refill(struct st_limit *l, int64_t now_ns)
{
    int64_t back = (now_ns - l->since_ns) / l->each_ns;

    if (l->used == 0 || back >= l->used) {
        l->used = 0;
        l->since_ns = now_ns;
    } else if (back > 0) {
        l->used -= (unsigned)back;
        l->since_ns += back * l->each_ns;
    }
}

bool st_limit_allows(struct st_limit *l, int64_t now_ns, unsigned *wait)
{
    refill(l, now_ns);
    if (l->used < l->burst)
        return true;
    *wait = (unsigned)((l->since_ns + l->each_ns - now_ns + SECOND_NS - 1) / SECOND_NS);
    return false;
}

void st_limit_count(struct st_limit *l, int64_t now_ns)
{
    refill(l, now_ns);
    if (l->used < l->burst)
        l->used++;
}
