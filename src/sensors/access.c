/* access: see access.h. */
#include "sensors/access.h"

#include "base/clock.h"
#include "base/io.h"
#include "model/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define QUICK_LOOKS 8

static struct st_wanted by_flags(unsigned long flags)
{
    struct st_wanted w = {0};

    switch (flags & O_ACCMODE) {
    case O_RDONLY: w.access = ST_ACCESS_READ; break;
    case O_WRONLY: w.access = ST_ACCESS_WRITE; break;
    default: w.access = ST_ACCESS_READ | ST_ACCESS_WRITE; break;
    }
    /* O_TRUNC empties even what is opened for reading. O_CREAT alone opens an existing file as it is. */
    if (flags & O_TRUNC)
        w.access |= ST_ACCESS_WRITE;
    if (flags & O_CREAT) {
        w.creates = 1;
        w.excl = (flags & O_EXCL) != 0;
    }
    return w;
}

/* As "257 0xffffff9c 0x7f… …": the number, six arguments, and two more that are of no use here. Where the
 * thread is in no call there are fewer. */
static bool find_call(const char *text, long *nr, unsigned long args[6])
{
    char *end;

    *nr = strtol(text, &end, 10);
    if (end == text)
        return false;
    for (int i = 0; i < 6; i++) {
        const char *at = end;

        args[i] = strtoul(at, &end, 16);
        if (end == at)
            return false;
    }
    return true;
}

struct st_wanted st_access_of_syscall(const char *text, int exec)
{
    const struct st_wanted unknown = {.access = ST_ACCESS_READ | ST_ACCESS_WRITE};
    unsigned long args[6];
    long nr;

    if (exec)
        return (struct st_wanted){.access = ST_ACCESS_EXEC};
    if (!find_call(text, &nr, args))
        return unknown;
    switch (nr) {
#ifdef SYS_open
    case SYS_open: return by_flags(args[1]);
    case SYS_creat: return by_flags(O_WRONLY | O_CREAT | O_TRUNC);
#endif
    case SYS_openat: return by_flags(args[2]);
    case SYS_open_by_handle_at: return by_flags(args[2]);
    /* The kernel reads the interpreter, and the program once more. */
    case SYS_execve:
    case SYS_execveat: return (struct st_wanted){.access = ST_ACCESS_EXEC};
    default: return unknown; /* openat2 and io_uring hide their flags in memory; a foreign architecture */
    }
}

static ssize_t read_once(int fd, pid_t tid, char *text, size_t size)
{
    char path[48];
    ssize_t n;

    if (fd < 0) {
        snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
        return st_read_piece_at(AT_FDCWD, path, text, size);
    }
    n = pread(fd, text, size - 1, 0);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    return n;
}

/* The kernel reports an open before the thread that does it has gone to sleep: till then its registers are
 * not to be had ("running"). It needs no more than a moment of its processor; how long that takes is up to
 * the container's share of it. */
enum st_registers st_registers_read(int fd, pid_t tid, char *text, size_t size, int64_t patience_ns)
{
    const struct timespec moment = {.tv_nsec = 20000};
    int64_t until = 0;

    for (unsigned looks = 0;; looks++) {
        ssize_t rc = read_once(fd, tid, text, size);

        if (rc < 0)
            return rc == -ENOENT || rc == -ESRCH ? ST_REGISTERS_GONE : ST_REGISTERS_HIDDEN;
        if (strncmp(text, "running", 7) != 0)
            return ST_REGISTERS_READ;
        if (!until)
            until = st_now_mono_ns() + patience_ns;
        else if (st_now_mono_ns() > until)
            return ST_REGISTERS_RUNNING;
        /* On another processor it is about to sleep; on ours it can't before we do. */
        if (looks >= QUICK_LOOKS)
            nanosleep(&moment, NULL);
    }
}
