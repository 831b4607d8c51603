/* memfd: see memfd.h. */
#include "monitor/memfd.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTING "/proc/sys/vm/memfd_noexec"
#define NONE_EXECUTABLE "2"

static bool is_ours(int ns)
{
    struct stat ours, theirs;

    return stat("/proc/self/ns/pid", &ours) < 0 || fstat(ns, &theirs) < 0 ||
           (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino);
}

/* Its exit status; EIO where it has none. */
static int status_of(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return EIO;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/* In a child: the setting is of the namespace in which the writer itself is, and only its children get there.
 */
_Noreturn static void write_within(int ns, int setting)
{
    pid_t child;

    if (setns(ns, CLONE_NEWPID) < 0 || (child = fork()) < 0)
        _exit(errno);
    if (child == 0)
        _exit(write(setting, NONE_EXECUTABLE, 1) == 1 ? 0 : errno);
    _exit(status_of(child));
}

int st_memfd_forbid(pid_t pid, struct st_error *err)
{
    st_auto_fd ns = -1, setting = open(SETTING, O_WRONLY | O_CLOEXEC);
    char path[32];
    pid_t child;
    int rc;

    if (setting < 0)
        return st_fail_errno(err, SETTING);
    snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
    ns = open(path, O_RDONLY | O_CLOEXEC);
    if (ns < 0)
        return st_fail_errno(err, "%s", path);
    if (is_ours(ns))
        return st_fail(err, EBUSY, "the container has no pid namespace of its own");
    child = fork();
    if (child < 0)
        return st_fail_errno(err, "fork");
    if (child == 0)
        write_within(ns, setting);
    rc = status_of(child);
    return rc ? st_fail(err, rc, SETTING ": %s", strerror(rc)) : 0;
}
