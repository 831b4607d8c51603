/* kill: see kill.h. */
#include "respond/kill.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "respond/freezer.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#define PROCS_MAX (64u << 20)

/* A pid read from cgroup.procs may be another process by now: take a pidfd, then look where the pid
 * lives, then signal the pidfd. If it was reused in between, the pidfd is of the dead one: harmless. */
static bool lives_in(const struct st_cgroup *cg, pid_t pid)
{
    char path[PATH_MAX];

    return st_cgroup_path_of(pid, cg->kind, path, sizeof(path), NULL) == 0 && strcmp(path, cg->path) == 0;
}

static void kill_listed(const struct st_cgroup *cg)
{
    st_auto_buf text = ST_BUF_INIT;
    char *save = NULL;

    if (st_read_file_at(cg->dirfd, "cgroup.procs", false, PROCS_MAX, &text, NULL) < 0)
        return;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        pid_t pid = (pid_t)strtol(line, NULL, 10);
        st_auto_fd fd = pid > 0 ? pidfd_open(pid, 0) : -1;

        if (fd >= 0 && lives_in(cg, pid))
            pidfd_send_signal(fd, SIGKILL, NULL, 0);
    }
}

static void kill_once(const struct st_cgroup *cg, int init_pidfd)
{
    if (init_pidfd >= 0)
        pidfd_send_signal(init_pidfd, SIGKILL, NULL, 0);
    if (cg->dirfd < 0)
        return;
    if (cg->kill_fd < 0 || write(cg->kill_fd, "1", 1) != 1)
        kill_listed(cg);
}

int st_kill_container(const struct st_cgroup *cg, int init_pidfd, int64_t timeout_ns)
{
    int64_t deadline = st_now_mono_ns() + timeout_ns;
    struct timespec ts = {.tv_nsec = 500000};

    for (;;) {
        kill_once(cg, init_pidfd);
        if (cg->dirfd < 0)
            return 0;
        /* A task that is frozen on v1 dies only once it is thawed; it has its SIGKILL by then, so it
         * does not run another instruction of its own. */
        st_freezer_thaw(cg);
        if (st_cgroup_empty(cg))
            return 0;
        if (st_now_mono_ns() > deadline)
            return -ETIMEDOUT;
        nanosleep(&ts, NULL);
    }
}
