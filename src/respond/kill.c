/* kill: see kill.h. */
#include "respond/kill.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "respond/freezer.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#define PROCS_MAX (64u << 20)

static bool thread_lives_in(const struct st_cgroup *cg, pid_t tid)
{
    char path[PATH_MAX];

    return st_cgroup_path_of(tid, cg->kind, path, sizeof(path), NULL) == 0 && strcmp(path, cg->path) == 0;
}

/* A pid read from cgroup.procs may be another process by now: take a pidfd, then look where the pid
 * lives, then signal the pidfd. If it was reused in between, the pidfd is of the dead one: harmless.
 *
 * Of a process whose first thread has ended the others tell: on v1 the dead one is said to be in the root. */
static bool lives_in(const struct st_cgroup *cg, pid_t pid)
{
    char path[32];
    const struct dirent *task;
    bool found = thread_lives_in(cg, pid);
    DIR *tasks;

    if (found)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    while (tasks && !found && (task = readdir(tasks)))
        found = task->d_name[0] != '.' && thread_lives_in(cg, (pid_t)strtol(task->d_name, NULL, 10));
    if (tasks)
        closedir(tasks);
    return found;
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

/* cgroup.kill is one stroke, which no fork outruns; but it signals the first thread of each process, and
 * where that has ended alone the others do not hear of it: they are killed one by one. */
static void kill_once(const struct st_cgroup *cg, int init_pidfd, bool again)
{
    if (init_pidfd >= 0)
        pidfd_send_signal(init_pidfd, SIGKILL, NULL, 0);
    if (cg->dirfd < 0)
        return;
    if (cg->kill_fd < 0 || write(cg->kill_fd, "1", 1) != 1 || again)
        kill_listed(cg);
}

int st_kill_container(const struct st_cgroup *cg, int init_pidfd, int64_t timeout_ns)
{
    int64_t deadline = st_now_mono_ns() + timeout_ns;
    struct timespec ts = {.tv_nsec = 500000};

    for (bool again = false;; again = true) {
        kill_once(cg, init_pidfd, again);
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
