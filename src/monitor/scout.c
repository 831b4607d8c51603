/* scout: see scout.h. */
#include "monitor/scout.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static pid_t pid_of(int pidfd)
{
    char path[40], text[1024];
    const char *line;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
    if (st_read_small_at(AT_FDCWD, path, text, sizeof(text)) < 0)
        return -1;
    line = strstr(text, "\nPid:");
    return line ? (pid_t)strtol(line + strlen("\nPid:"), NULL, 10) : -1;
}

int st_scout_open(struct st_scout *s, int runtime, struct st_error *err)
{
    pid_t pid = pid_of(runtime);

    *s = (struct st_scout)ST_SCOUT_NONE;
    return pid <= 0 ? st_fail(err, ESRCH, "the runtime has ended") : st_births_open(&s->births, pid, err);
}

void st_scout_close(struct st_scout *s)
{
    st_births_close(&s->births);
}

static void remember(void *ctx, pid_t child)
{
    *(pid_t *)ctx = child;
}

int st_scout_network(struct st_scout *s)
{
    struct stat own, theirs;
    char path[48];
    pid_t child = 0;
    st_auto_fd fd = -1;

    st_births_read(&s->births, remember, &child);
    if (child <= 0 || stat("/proc/self/ns/net", &own) < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)child);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &theirs) < 0 || theirs.st_ino == own.st_ino)
        return -1;
    return st_steal_fd(&fd);
}
