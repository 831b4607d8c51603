/* engines: see engines.h. */
#include "monitor/engines.h"

#include "base/cleanup.h"

#include <sys/epoll.h>
#include <sys/pidfd.h>

void st_engines_init(struct st_engines *e, struct st_loop *loop, bool *busy)
{
    *e = (struct st_engines){.loop = loop, .busy = busy};
    for (int i = 0; i < ST_ENGINES; i++)
        e->at[i] = (struct st_engine){.all = e, .pidfd = -1};
}

static void tell(const struct st_engines *e)
{
    *e->busy = false;
    for (int i = 0; i < ST_ENGINES; i++)
        *e->busy |= e->at[i].pidfd >= 0;
}

static void on_end(void *ctx, uint32_t events)
{
    struct st_engine *engine = ctx;

    (void)events;
    st_loop_remove(engine->all->loop, engine->pidfd);
    st_close(&engine->pidfd);
    tell(engine->all);
}

void st_engines_join(struct st_engines *e, pid_t pid)
{
    struct st_engine *place = NULL;
    st_auto_fd pidfd = pidfd_open(pid, 0);

    for (int i = 0; i < ST_ENGINES && !place; i++)
        if (e->at[i].pidfd < 0)
            place = &e->at[i];
    if (pidfd < 0 || !place || st_loop_add(e->loop, "engine", pidfd, EPOLLIN, on_end, place) < 0)
        return;
    place->pidfd = st_steal_fd(&pidfd);
    tell(e);
}
