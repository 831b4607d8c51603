/* asker: what /proc says of a thread that waits for us, read by files that stay open until another one asks:
 * one execve asks for each file that it opens. An open file of /proc is that thread's for ever: when it has
 * ended, nothing can be read from it, and a number that is used again does not lead there.
 *
 * Owns the fds. All of it zero: nobody has asked. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct st_asker {
    pid_t tid; /* 0: none; then there are no fds */
    int status, registers;
};

/* Of /proc/TID/status, NUL-terminated. Negative: -errno, as ESRCH or ENOENT where it is gone. */
ssize_t st_asker_status(struct st_asker *a, pid_t tid, char *out, size_t size);

/* An fd of /proc/TID/syscall; -1: st_asker_status was not asked of this thread last, or it is gone. */
int st_asker_registers(struct st_asker *a, pid_t tid);

void st_asker_close(struct st_asker *a);
