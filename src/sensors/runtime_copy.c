/* runtime_copy: see runtime_copy.h. */
#include "sensors/runtime_copy.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool st_program_stat(pid_t pid, struct stat *out)
{
    char link[48];

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    return stat(link, out) == 0;
}

dev_t st_program_memory(void)
{
    st_auto_fd memory = memfd_create("", MFD_CLOEXEC);
    struct stat sb;

    return memory >= 0 && fstat(memory, &sb) == 0 ? sb.st_dev : 0;
}

/* The same bytes; sizes are the same. */
static bool same_content(int a, int b)
{
    static const size_t size = 32768;
    st_auto_free char *room = st_xmalloc(2 * size);
    off_t at = 0;

    for (;;) {
        ssize_t n = pread(a, room, size, at);

        if (n < 0 || pread(b, room + size, size, at) != n)
            return false;
        if (n == 0)
            return true;
        if (memcmp(room, room + size, (size_t)n) != 0)
            return false;
        at += n;
    }
}

static int open_program(pid_t pid)
{
    char link[48];

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    return open(link, O_RDONLY | O_CLOEXEC);
}

bool st_program_is_copy(pid_t pid, const struct stat *program, dev_t memory, pid_t runtime)
{
    st_auto_fd copy = -1, own = -1;
    struct stat theirs;

    if (!memory || program->st_dev != memory)
        return false;
    copy = open_program(pid);
    own = open_program(runtime);
    return copy >= 0 && own >= 0 && fstat(own, &theirs) == 0 && theirs.st_size == program->st_size &&
           same_content(copy, own);
}
