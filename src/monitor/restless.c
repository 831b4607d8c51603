/* restless: see restless.h. */
#include "monitor/restless.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>

/* Between two looks: long for a thread that runs, and no burden, however many there are. */
#define PAUSE_NS 1000000
#define PAUSE_EACH_NS 50000

void st_restless_keep(struct st_restless *r, const struct st_fan_event *seen, int64_t seen_ns)
{
    if (r->n == r->room) {
        r->room = r->room ? 2 * r->room : 16;
        r->list = st_xrealloc(r->list, r->room * sizeof(*r->list));
    }
    r->list[r->n++] = (struct st_restless_open){*seen, seen_ns};
    r->look_ns = st_now_mono_ns() + PAUSE_NS + (int64_t)r->n * PAUSE_EACH_NS;
}

int64_t st_restless_deadline(const struct st_restless *r)
{
    return r->n ? r->look_ns : -1;
}

void st_restless_look(struct st_restless *r, void (*take)(void *ctx, const struct st_restless_open *open),
                      void *ctx)
{
    struct st_restless_open *list = r->list;
    size_t n = r->n;

    r->list = NULL;
    r->n = r->room = 0;
    for (size_t i = 0; i < n; i++)
        take(ctx, &list[i]);
    free(list);
}
