/* run_groups: see run_groups.h. The name is random: what has it is of that run and of nobody else. */
#include "cli/run_groups.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/mountinfo.h"
#include "cli/run_spec.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define PATIENCE_MS 5000
#define LOOK_MS 10
#define PROCS_MAX ((size_t)1 << 20)
#define DEPTH_MAX 8

/* Those that are there now; a fork bomb has more the next time. */
static void kill_all(int dir)
{
    st_auto_buf text = ST_BUF_INIT;
    char *at;

    if (st_write_small_at(dir, "cgroup.kill", "1") == 0 ||
        st_read_file_at(dir, "cgroup.procs", false, PROCS_MAX, &text, NULL) < 0 || text.len == 0)
        return;
    for (at = text.data; *at;) {
        long pid = strtol(at, &at, 10);

        if (pid > 0)
            kill((pid_t)pid, SIGKILL);
        at += *at == '\n';
    }
}

/* Depth first; true: it is gone. */
static bool end_tree(int parent, const char *name, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    st_auto_dir dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;

    if (!dir)
        return fd < 0 ? errno == ENOENT : (close(fd), false);
    kill_all(fd);
    (void)st_write_small_at(fd, "freezer.state", "THAWED"); /* on v1 the frozen do not die */
    while (depth < DEPTH_MAX && (entry = readdir(dir)))
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            end_tree(fd, entry->d_name, depth + 1);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

static bool end_once(const struct st_mounts *mounts, const char *name)
{
    bool gone = true;

    for (size_t i = 0; i < mounts->n; i++) {
        const struct st_mount *m = &mounts->list[i];
        st_auto_fd dir = -1;

        if ((strcmp(m->type, "cgroup") != 0 && strcmp(m->type, "cgroup2") != 0) || strcmp(m->root, "/") != 0)
            continue;
        dir = open(m->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir >= 0)
            gone &= end_tree(dir, name, 0);
    }
    return gone;
}

void st_run_groups_end(const char *id)
{
    st_auto_free char *name = st_xasprintf(ST_RUN_CGROUP "%s", id);
    st_auto_mounts mounts = {0};

    if (st_mounts_read(0, &mounts, NULL) < 0)
        return;
    for (int waited = 0; !end_once(&mounts, name) && waited < PATIENCE_MS; waited += LOOK_MS)
        poll(NULL, 0, LOOK_MS);
}
