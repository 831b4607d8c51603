/* performers: see performers.h. */
#include "monitor/performers.h"

#include "base/cleanup.h"
#include "monitor/errand.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t *free_place(struct st_performers *p)
{
    for (size_t i = 0; i < ST_HANDS; i++)
        if (p->list[i] == 0)
            return &p->list[i];
    return NULL;
}

void st_performers_reap(struct st_performers *p)
{
    for (size_t i = 0; i < ST_HANDS; i++)
        if (p->list[i] > 0 && waitpid(p->list[i], NULL, WNOHANG) == p->list[i])
            p->list[i] = 0;
    st_snapshots_reap(&p->snapshots);
}

int st_performers_send(struct st_performers *p, struct st_watch *w, int socket_fd)
{
    struct st_errand e;
    int fds[ST_ERRAND_FDS];
    int rc = st_errand_receive(socket_fd, &e, fds);
    pid_t *place, pid;

    if (rc != 1)
        return rc == -EAGAIN ? -EAGAIN : -EPIPE;
    place = free_place(p);
    pid = place ? fork() : -1;
    if (pid == 0)
        st_errand_perform(w, &e, fds);
    if (pid > 0)
        *place = pid;
    for (size_t i = 0; i < ST_ERRAND_FDS; i++)
        st_close(&fds[i]);
    return 0;
}
