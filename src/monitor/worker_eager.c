/* worker_eager: who of those that ask and wait is waited for first; see loop.h. */
#include "monitor/worker_private.h"

#define OPENS_IN_ROW 2 /* make it likely that the next one who asks does so by an open */

/* Who asks by opens alone, else who asks by calls: what makes a file asks by one and then by the other. To
 * fetch a question where there is none would wait for one. */
struct st_loop_eager st_worker_eager(void *ctx, int last)
{
    struct st_worker *w = ctx;
    int call = st_mutations_eager(&w->mutations);

    if (last >= 0 && last == w->watch->fan)
        w->opens += w->opens < OPENS_IN_ROW;
    else if (last >= 0 && w->mutations.notify && (last == call || last == st_notify_fd(w->mutations.notify)))
        w->opens = 0;
    if (w->opens >= OPENS_IN_ROW)
        return (struct st_loop_eager){w->watch->fan, true};
    return (struct st_loop_eager){call, false};
}

/* Nothing of the container runs before its first program is let: by then all its devices are held. */
static bool work_files(struct st_worker *w)
{
    if (w->network.on && w->network.outside.on)
        st_network_settle(&w->network);
    return st_files_work(&w->files);
}

void st_worker_on_files(void *ctx, uint32_t events)
{
    (void)events;
    work_files(ctx);
}

bool st_worker_on_eager(void *ctx, int fd, short events)
{
    struct st_worker *w = ctx;

    if (fd == w->watch->fan)
        return work_files(w);
    st_mutations_work_eager(&w->mutations, events);
    return true;
}
