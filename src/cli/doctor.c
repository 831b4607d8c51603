/* doctor: see doctor.h: one check in a process of its own. */
#include "cli/doctor.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define LIMIT_MS 10000

_Static_assert(sizeof(struct st_finding) <= PIPE_BUF, "written at once, or not at all");

const char *st_health_name(enum st_health health)
{
    static const char *const names[] = {"ok", "degraded", "missing", "unknown"};

    return names[health];
}

void st_finding_set(struct st_finding *f, enum st_health health, const char *fmt, ...)
{
    va_list args;

    f->health = health;
    va_start(args, fmt);
    vsnprintf(f->detail, sizeof(f->detail), fmt, args);
    va_end(args);
}

void st_finding_mend(struct st_finding *f, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(f->mend, sizeof(f->mend), fmt, args);
    va_end(args);
}

int st_doctor_helper(void)
{
    pid_t probe = getpid(), pid = fork();

    if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != probe))
        _exit(126);
    return pid;
}

static void detach_stdio(void)
{
    st_auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; null >= 0 && fd < 3; fd++)
        if (fd != null)
            dup2(null, fd);
}

/* What is mounted from here on is seen by nobody else. */
static bool go_apart(int apart, struct st_finding *f)
{
    if (apart && unshare(apart) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "a namespace of its own for the probe: %s", strerror(errno));
        return false;
    }
    if ((apart & CLONE_NEWNS) && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "mounts of its own for the probe: %s", strerror(errno));
        return false;
    }
    return true;
}

_Noreturn static void probe(const struct st_doctor *d, const struct st_check *check, pid_t parent, int out)
{
    struct st_finding f = {.health = ST_HEALTH_MISSING, .needed = check->needed};

    out = fcntl(out, F_DUPFD_CLOEXEC, 3);
    if (out < 0 || setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(1);
    detach_stdio();
    if (go_apart(check->apart, &f))
        check->probe(d, &f);
    _exit(st_write_all(out, &f, sizeof(f)) < 0);
}

/* false: it did not come in time, or died before it had one. */
static bool hear(int fd, struct st_finding *out, const char **why)
{
    int64_t until = st_now_mono_ns() + (int64_t)LIMIT_MS * 1000000;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int rc;

    do
        rc = poll(&p, 1, (int)((until - st_now_mono_ns()) / 1000000));
    while (rc < 0 && errno == EINTR);
    *why = rc == 0 ? "the probe did not come to an end" : "the probe died";
    return rc == 1 && read(fd, out, sizeof(*out)) == (ssize_t)sizeof(*out);
}

static void end_of(pid_t pid)
{
    kill(-pid, SIGKILL); /* its session is itself and its helpers */
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

void st_doctor_look(const struct st_doctor *d, const struct st_check *check, struct st_finding *out)
{
    st_auto_fd read_end = -1, write_end = -1;
    const char *why = NULL;
    pid_t self = getpid(), pid;
    int fds[2];

    *out = (struct st_finding){.health = ST_HEALTH_MISSING, .needed = check->needed};
    if (check->by_root && !d->root) {
        st_finding_set(out, ST_HEALTH_UNKNOWN, "only root can find out");
        return;
    }
    if (pipe2(fds, O_CLOEXEC) < 0) {
        st_finding_set(out, ST_HEALTH_UNKNOWN, "pipe: %s", strerror(errno));
        return;
    }
    read_end = fds[0];
    write_end = fds[1];
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        probe(d, check, self, write_end);
    st_close(&write_end);
    if (pid < 0 || !hear(read_end, out, &why)) {
        *out = (struct st_finding){.needed = check->needed};
        st_finding_set(out, ST_HEALTH_MISSING, "%s", pid < 0 ? strerror(errno) : why);
    }
    if (pid > 0)
        end_of(pid);
}
