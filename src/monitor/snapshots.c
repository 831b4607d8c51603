/* snapshots: see snapshots.h. */
#include "monitor/snapshots.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "monitor/snapshot.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#define N_FDS (ST_SNAPSHOT_GROUP + 1)

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static int start(const struct st_watch *w, int socket, pid_t *pid)
{
    static const char *const env[] = {NULL};
    const struct st_order *o = &w->order;
    size_t n_hook = count(o->quarantine.on_review);
    st_auto_free const char **argv = st_xcalloc(ST_SNAPSHOT_HOOK + n_hook + 1, sizeof(*argv));
    st_auto_fd null = st_fd_above(open("/dev/null", O_RDWR | O_CLOEXEC), N_FDS);
    st_auto_fd ours = fcntl(socket, F_DUPFD_CLOEXEC, N_FDS);
    st_auto_fd group = w->can_freeze ? fcntl(w->cgroup.dirfd, F_DUPFD_CLOEXEC, N_FDS) : -1;
    const int fds[N_FDS] = {null, null, null, ours, group >= 0 ? group : null};
    const struct st_spawn how = {.program = o->quarantine.program,
                                 .argv = argv,
                                 .envp = env,
                                 .fds = fds,
                                 .n_fds = N_FDS,
                                 .cgroup_fd = -1,
                                 .say_fd = -1};
    char number[24], bytes[24];

    snprintf(number, sizeof(number), "%d", (int)o->pid);
    snprintf(bytes, sizeof(bytes), "%lld", (long long)o->quarantine.bytes);
    argv[0] = ST_SNAPSHOT_PROGRAM;
    argv[ST_SNAPSHOT_ID] = o->id;
    argv[ST_SNAPSHOT_PID] = number;
    argv[ST_SNAPSHOT_ROOTFS] = o->rootfs;
    argv[ST_SNAPSHOT_TRACE] = o->trace_path;
    argv[ST_SNAPSHOT_DIR] = o->quarantine.dir;
    argv[ST_SNAPSHOT_BYTES] = bytes;
    for (size_t i = 0; i < n_hook; i++)
        argv[ST_SNAPSHOT_HOOK + i] = o->quarantine.on_review[i];
    return null < 0 || ours < 0 ? -errno : st_spawn(&how, pid);
}

void st_snapshots_start(struct st_snapshots *s, const struct st_watch *w, int socket)
{
    if (s->started == ST_SNAPSHOTS_ALL || !w->order.quarantine.dir || !w->order.quarantine.program)
        return;
    for (size_t i = 0; i < ST_SNAPSHOTS; i++)
        if (s->list[i] == 0) {
            s->started++;
            if (start(w, socket, &s->list[i]) < 0)
                s->list[i] = 0;
            return;
        }
}

void st_snapshots_reap(struct st_snapshots *s)
{
    for (size_t i = 0; i < ST_SNAPSHOTS; i++)
        if (s->list[i] > 0 && waitpid(s->list[i], NULL, WNOHANG) == s->list[i])
            s->list[i] = 0;
}

void st_snapshots_end(const struct st_snapshots *s)
{
    for (size_t i = 0; i < ST_SNAPSHOTS; i++)
        if (s->list[i] > 0)
            kill(s->list[i], SIGKILL);
}
