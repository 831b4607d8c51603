/* asker: see asker.h. */
#include "sensors/asker.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_file(pid_t tid, const char *name)
{
    char path[48];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

void st_asker_close(struct st_asker *a)
{
    if (a->tid) {
        st_close(&a->status);
        st_close(&a->registers);
    }
    a->tid = 0;
}

static ssize_t read_from_start(int fd, char *out, size_t size)
{
    ssize_t n;

    do
        n = pread(fd, out, size, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if ((size_t)n == size)
        return -EFBIG;
    out[n] = '\0';
    return n;
}

ssize_t st_asker_status(struct st_asker *a, pid_t tid, char *out, size_t size)
{
    ssize_t n;

    if (a->tid == tid) {
        n = read_from_start(a->status, out, size);
        if (n > 0)
            return n;
    }
    st_asker_close(a); /* it was another one, with the same number maybe */
    *a = (struct st_asker){.tid = tid, .registers = -1};
    a->status = open_file(tid, "status");
    n = a->status < 0 ? -errno : read_from_start(a->status, out, size);
    if (n <= 0)
        st_asker_close(a);
    return n == 0 ? -ESRCH : n;
}

int st_asker_registers(struct st_asker *a, pid_t tid)
{
    if (!tid || a->tid != tid)
        return -1;
    if (a->registers < 0)
        a->registers = open_file(tid, "syscall");
    return a->registers;
}
