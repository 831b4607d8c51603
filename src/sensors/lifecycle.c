/* lifecycle: see lifecycle.h. */
#include "sensors/lifecycle.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procstat.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>

/* PIDFD_GET_INFO of linux/pidfd.h, which Debian 12's headers do not have yet. */
struct pidfd_info_v1 {
    uint64_t mask;
    uint64_t cgroupid;
    uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    int32_t exit_code;
};
#define ST_PIDFD_INFO_EXIT (1ULL << 3)
#define ST_PIDFD_GET_INFO _IOWR(0xFF, 11, struct pidfd_info_v1)

int st_lifecycle_open(pid_t pid, struct st_lifecycle *out, struct st_error *err)
{
    char path[32];

    *out = (struct st_lifecycle)ST_LIFECYCLE_NONE;
    out->pid = pid;
    out->pidfd = pidfd_open(pid, 0);
    if (out->pidfd < 0)
        return st_fail_errno(err, "the container's first process %d", (int)pid);
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    out->proc_dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out->proc_dir < 0 || st_lifecycle_ended(out)) {
        st_lifecycle_close(out);
        return st_fail(err, ESRCH, "the container's first process %d has ended already", (int)pid);
    }
    return 0;
}

void st_lifecycle_close(struct st_lifecycle *l)
{
    st_close(&l->pidfd);
    st_close(&l->proc_dir);
}

bool st_lifecycle_ended(const struct st_lifecycle *l)
{
    struct pollfd p = {.fd = l->pidfd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

static bool status_by_pidfd(int pidfd, int *status)
{
    struct pidfd_info_v1 info = {.mask = ST_PIDFD_INFO_EXIT};

    if (ioctl(pidfd, ST_PIDFD_GET_INFO, &info) < 0 || !(info.mask & ST_PIDFD_INFO_EXIT))
        return false;
    *status = info.exit_code;
    return true;
}

/* The fields of /proc/PID/stat where the first thread is a zombie; else NULL. */
static const char *fields_of_zombie(int proc_dir, char text[ST_PROCSTAT_SIZE])
{
    const char *fields = st_procstat(proc_dir, "stat", text);

    return fields && strncmp(fields, "Z ", 2) == 0 ? fields : NULL;
}

/* The last field is the exit code, shown to those who may trace the process. */
static bool status_of_zombie(int proc_dir, int *status)
{
    char text[ST_PROCSTAT_SIZE];
    const char *fields = fields_of_zombie(proc_dir, text);

    if (!fields)
        return false;
    *status = (int)strtol(strrchr(fields, ' ') + 1, NULL, 10);
    return true;
}

bool st_lifecycle_status(const struct st_lifecycle *l, int *status)
{
    return status_by_pidfd(l->pidfd, status) || status_of_zombie(l->proc_dir, status);
}

/* The end is asked for last: a process that ends in between is not headless. */
bool st_lifecycle_headless(const struct st_lifecycle *l)
{
    char text[ST_PROCSTAT_SIZE];

    return fields_of_zombie(l->proc_dir, text) && !st_lifecycle_ended(l);
}

static bool has_kill_in(const char *status, const char *set)
{
    const char *at = strstr(status, set);

    return at && strtoull(at + strlen(set), NULL, 16) & 1ULL << (SIGKILL - 1);
}

/* By the signal alone: a first thread that has left its process alone is on its way out for as long as it
 * likes, and a container could call that dying. No signal from inside kills the first process. */
bool st_lifecycle_dying(const struct st_lifecycle *l)
{
    char text[4096];

    return !st_lifecycle_ended(l) && st_read_small_at(l->proc_dir, "status", text, sizeof(text)) >= 0 &&
           (has_kill_in(text, "\nSigPnd:\t") || has_kill_in(text, "\nShdPnd:\t"));
}
