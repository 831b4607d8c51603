/* memfd: see memfd.h. */
#include "monitor/memfd.h"

#include "base/cleanup.h"
#include "sensors/request.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTING "/proc/sys/vm/memfd_noexec"
#define NONE_EXECUTABLE "2"
#define STACK_SIZE 8192
#define NAME_MAX_OF_KERNEL 249 /* of a file in memory */

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

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

/* One needs another below it, and neither can stand on the stack of the first: it is no larger than one. */
struct errand {
    int ns, setting;
    _Alignas(16) char outer[STACK_SIZE], inner[STACK_SIZE];
};

/* Does it in a process that has its memory from us, while we stand still: a runtime waits, and to copy ours
 * for a single write takes longer than all the rest. What it returns; EIO where it does not. */
static int run_beside(int (*run)(void *), char stack[STACK_SIZE], struct errand *e)
{
    pid_t child = clone(run, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, e);

    return child < 0 ? errno : status_of(child);
}

static int write_setting(void *ctx)
{
    const struct errand *e = ctx;

    return write(e->setting, NONE_EXECUTABLE, 1) == 1 ? 0 : errno;
}

/* The setting is of the namespace in which the writer itself is, and only children get there. */
static int write_within(void *ctx)
{
    struct errand *e = ctx;

    return setns(e->ns, CLONE_NEWPID) < 0 ? errno : run_beside(write_setting, e->inner, e);
}

static int forbid(pid_t pid, int setting, struct st_error *err)
{
    struct errand e; /* its stacks are not to be filled */
    st_auto_fd ns = -1;
    char path[32];
    int rc;

    snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
    ns = open(path, O_RDONLY | O_CLOEXEC);
    if (ns < 0)
        return st_fail_errno(err, "%s", path);
    if (is_ours(ns))
        return st_fail(err, EBUSY, "the container has no pid namespace of its own");
    e.ns = ns;
    e.setting = setting;
    rc = run_beside(write_within, e.outer, &e);
    return rc ? st_fail(err, rc, SETTING ": %s", strerror(rc)) : 0;
}

enum st_memfd st_memfd_of_kernel(void)
{
    return access(SETTING, F_OK) < 0 && errno == ENOENT ? ST_MEMFD_PROGRAM : ST_MEMFD_EITHER;
}

enum st_memfd st_memfd_forbid(pid_t pid, struct st_error *err)
{
    st_auto_fd setting = open(SETTING, O_WRONLY | O_CLOEXEC);

    if (setting < 0) {
        st_fail_errno(err, SETTING);
        return st_memfd_of_kernel();
    }
    return forbid(pid, setting, err) < 0 ? ST_MEMFD_EITHER : ST_MEMFD_DATA;
}

bool st_memfd_is_open(pid_t tid, int fd, char name[ST_MEMFD_NAME])
{
    static const char prefix[] = "/memfd:", suffix[] = " (deleted)";
    char link[64];
    struct stat sb;
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)tid, fd);
    n = readlink(link, name, ST_MEMFD_NAME - 1);
    if (n < 0 || (size_t)n < sizeof(prefix) - 1 || memcmp(name, prefix, sizeof(prefix) - 1) != 0 ||
        stat(link, &sb) < 0 || sb.st_nlink != 0)
        return false;
    name[n] = '\0';
    if ((size_t)n >= sizeof(suffix) && strcmp(name + n - (sizeof(suffix) - 1), suffix) == 0)
        name[(size_t)n - (sizeof(suffix) - 1)] = '\0';
    return true;
}

int st_memfd_make(pid_t tid, const struct seccomp_data *call)
{
    unsigned flags = (unsigned)call->args[1];
    char name[NAME_MAX_OF_KERNEL + 1];
    ssize_t n = st_memory_of_task(&tid, call->args[0], name, sizeof(name));
    int fd;

    if ((flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC)) || n <= 0 || !memchr(name, '\0', (size_t)n))
        return -EOPNOTSUPP;
    fd = memfd_create(name, flags | MFD_CLOEXEC);
    return fd < 0 ? -EOPNOTSUPP : fd;
}
