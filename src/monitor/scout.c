/* scout: see scout.h. */
#include "monitor/scout.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct finding {
    ino_t own, network;
    int fd; /* of the network; -1: none yet */
    bool several;
};

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

static int open_network(const char *process, ino_t *number)
{
    char path[48];
    struct stat sb;
    st_auto_fd fd = -1;

    snprintf(path, sizeof(path), "/proc/%s/ns/net", process);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &sb) < 0)
        return -1;
    *number = sb.st_ino;
    return st_steal_fd(&fd);
}

static void look_at_child(struct finding *f, const char *child)
{
    ino_t number = 0;
    st_auto_fd fd = open_network(child, &number);

    if (fd < 0 || number == f->own)
        return;
    if (f->fd < 0) {
        f->fd = st_steal_fd(&fd);
        f->network = number;
    }
    f->several |= number != f->network;
}

static void look_at_thread(struct finding *f, int tasks, const char *thread)
{
    char path[32], text[4096], *save = NULL;

    if (snprintf(path, sizeof(path), "%s/children", thread) >= (int)sizeof(path) ||
        st_read_small_at(tasks, path, text, sizeof(text)) < 0)
        return;
    for (char *child = strtok_r(text, " ", &save); child; child = strtok_r(NULL, " ", &save))
        look_at_child(f, child);
}

static void look_at_process(struct finding *f, pid_t pid)
{
    const struct dirent *entry;
    char path[32];
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks)))
        if (entry->d_name[0] != '.')
            look_at_thread(f, dirfd(tasks), entry->d_name);
    if (tasks)
        closedir(tasks);
}

/* Had it ended, another could have its number. */
static bool lives(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    return poll(&p, 1, 0) == 0;
}

int st_scout_network(int runtime)
{
    struct finding f = {.fd = -1};
    st_auto_fd own = open_network("self", &f.own);
    pid_t pid = pid_of(runtime);

    if (own < 0 || pid <= 0)
        return -1;
    look_at_process(&f, pid);
    if (f.several || !lives(runtime))
        st_close(&f.fd);
    return f.fd;
}
