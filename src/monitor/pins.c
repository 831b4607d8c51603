/* pins: see pins.h. */
#include "monitor/pins.h"

#include "base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* It runs the file, or does something else, or is gone. A thread that runs may still be in the kernel, on its
 * way: that counts as not yet. */
static bool is_over(const struct st_pin *pin)
{
    char path[48], text[256];
    struct stat sb;
    long nr;

    snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pin->tid);
    if (st_read_small_at(AT_FDCWD, path, text, sizeof(text)) < 0)
        return true;
    nr = strtol(text, NULL, 10);
    if (strncmp(text, "running", 7) != 0)
        return nr != SYS_execve && nr != SYS_execveat;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pin->tid);
    return stat(path, &sb) == 0 && sb.st_dev == pin->dev && sb.st_ino == pin->ino;
}

static void release(struct st_pins *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++)
        if (!is_over(&p->list[i]))
            p->list[kept++] = p->list[i];
    p->n = kept;
}

bool st_pins_add(struct st_pins *p, pid_t tid, uint64_t dev, uint64_t ino)
{
    if (p->n == ST_PINS)
        release(p);
    if (p->n == ST_PINS)
        return false;
    p->list[p->n++] = (struct st_pin){tid, dev, ino};
    return true;
}

bool st_pins_hold(struct st_pins *p, uint64_t dev, uint64_t ino)
{
    bool held = false;

    for (size_t i = 0; i < p->n && !held; i++)
        held = p->list[i].dev == dev && p->list[i].ino == ino;
    if (!held)
        return false;
    release(p);
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].dev == dev && p->list[i].ino == ino)
            return true;
    return false;
}
