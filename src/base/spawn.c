/* spawn: see spawn.h. By clone3, so that the child is born in its control group: moving a process later takes
 * a lock that stops every fork on the machine for milliseconds. */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int st_fd_above(int fd, int floor)
{
    int moved;

    if (fd < 0 || fd >= floor)
        return fd;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, floor);
    close(fd);
    return moved;
}

/* The child has its own copy of memory and goes on here with 0. */
pid_t st_spawn_fork(int cgroup_fd)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    long pid = -1;

    if (cgroup_fd >= 0) {
        args.flags = CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)cgroup_fd;
        pid = syscall(SYS_clone3, &args, sizeof(args));
    }
    return pid < 0 ? fork() : (pid_t)pid;
}

/* execve changes nothing, whatever its prototype says. */
static char *const *unqualified(const char *const *list)
{
    union {
        const char *const *given;
        char *const *wanted;
    } u = {list};

    return u.wanted;
}

void st_spawn_become(const struct st_spawn *s)
{
    sigset_t none;
    char text[512];
    int n;

    for (int i = 0; i < s->n_fds; i++)
        if (dup2(s->fds[i], i) < 0)
            _exit(127);
    if (syscall(SYS_close_range, (unsigned)s->n_fds, ~0U, 0) < 0)
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(s->program, unqualified(s->argv), unqualified(s->envp));
    n = snprintf(text, sizeof(text), "start %s: %s", s->program, strerror(errno));
    if (s->say_fd >= 0 && n > 0 &&
        write(s->say_fd, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1) < 0)
        _exit(126); /* nobody listens any more */
    _exit(127);
}

/* The one between ends at once. */
static int spawn_orphan(const struct st_spawn *s)
{
    pid_t between = fork();

    if (between < 0)
        return -errno;
    if (between == 0) {
        pid_t child = st_spawn_fork(s->cgroup_fd);

        if (child == 0)
            st_spawn_become(s);
        _exit(child < 0);
    }
    while (waitpid(between, NULL, 0) < 0 && errno == EINTR)
        continue;
    return 0;
}

int st_spawn(const struct st_spawn *s, pid_t *pid)
{
    pid_t child;

    if (s->orphan)
        return spawn_orphan(s);
    child = st_spawn_fork(s->cgroup_fd);
    if (child < 0)
        return -errno;
    if (child == 0)
        st_spawn_become(s);
    *pid = child;
    return 0;
}
