/* exec: a program is run for each record, one at a time, with the record on its standard input. It has an
 * environment of its own, ten seconds, and nothing else that is open here. What exits with another code than
 * 0, or has to be killed, counts as lost. */
#include "audit/sinks/backend.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TIME_LIMIT_NS INT64_C(10000000000)

/* The record as a file without a name: nobody has to be fed, and nobody can refuse to read. */
static int record_file(const struct st_queued *item)
{
    int fd = memfd_create("record", MFD_CLOEXEC);
    int rc = fd < 0 ? -errno : st_write_all(fd, item->line.p, item->line.len);

    if (rc == 0)
        rc = st_write_all(fd, "\n", 1);
    if (rc == 0 && lseek(fd, 0, SEEK_SET) < 0)
        rc = -errno;
    if (rc < 0)
        st_close(&fd);
    return rc < 0 ? rc : st_fd_above(fd, 3);
}

static int start(struct st_backend_state *s, const struct st_queued *item, int64_t now_ns,
                 struct st_error *err)
{
    const char *envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL}, *argv[] = {"sandtrace-sink", NULL};
    st_auto_fd null = st_fd_above(open("/dev/null", O_WRONLY | O_CLOEXEC), 3);
    st_auto_fd input = record_file(item);
    const int fds[] = {input, null, null};
    const struct st_spawn spawn = {.program = s->target,
                                   .argv = argv,
                                   .envp = envp,
                                   .fds = fds,
                                   .n_fds = 3,
                                   .cgroup_fd = -1,
                                   .say_fd = -1};
    int rc = input < 0 ? input : null < 0 ? -EIO : st_spawn(&spawn, &s->pid);

    if (rc < 0)
        return st_fail(err, -rc, "start %s: %s", s->target, strerror(-rc));
    s->fd = (int)syscall(SYS_pidfd_open, s->pid, 0);
    s->kill_ns = now_ns + TIME_LIMIT_NS;
    return 0;
}

/* true: it has ended; *status as waitid has it. */
static bool reap(struct st_backend_state *s, siginfo_t *info)
{
    info->si_pid = 0;
    if (waitid(P_PID, (id_t)s->pid, info, WEXITED | WNOHANG) < 0 || info->si_pid == 0)
        return false;
    s->pid = 0;
    st_close(&s->fd);
    return true;
}

static enum st_send send_exec(struct st_backend_state *s, const struct st_queued *item, int64_t now_ns,
                              struct st_error *err)
{
    siginfo_t info;

    if (s->pid == 0 && start(s, item, now_ns, err) < 0)
        return ST_LOST;
    if (now_ns >= s->kill_ns) {
        kill(s->pid, SIGKILL);
        s->kill_ns = now_ns + TIME_LIMIT_NS;
    }
    if (!reap(s, &info))
        return ST_WAIT;
    if (info.si_code == CLD_EXITED && info.si_status == 0)
        return ST_SENT;
    st_fail(err, EIO, "%s %s %d", s->target,
            info.si_code == CLD_EXITED ? "ended with code" : "was ended by signal", info.si_status);
    return ST_LOST;
}

static void close_exec(struct st_backend_state *s)
{
    siginfo_t info;

    st_close(&s->fd);
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        waitid(P_PID, (id_t)s->pid, &info, WEXITED);
        s->pid = 0;
    }
}

/* Its end. */
static int poll_exec(const struct st_backend_state *s, short *events)
{
    *events = POLLIN;
    return s->fd;
}

const struct st_backend st_backend_exec = {
    .send = send_exec,
    .close = close_exec,
    .poll = poll_exec,
};
