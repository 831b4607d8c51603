/* home: see home.h. */
#include "monitor/home.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mountinfo.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define CGROUP_FILE_MAX (1u << 20)
#define TABLE_SIZE (32 << 10)

static void detach_stdio(void)
{
    st_auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return;
    for (int fd = 0; fd < 3; fd++)
        if (fd != null)
            dup2(null, fd);
}

void st_home_detach(void)
{
    sigset_t all;

    setsid();
    if (chdir("/") < 0)
        return;
    umask(027);
    detach_stdio();
    /* A monitor ends with its container, not by a signal meant for a service. SIGCHLD is read by the
     * warden from a signalfd. */
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGABRT);
    sigdelset(&all, SIGSYS);
    sigprocmask(SIG_SETMASK, &all, NULL);
    /* The key is in memory: no core dumps. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    /* Tables come as pages of zeroes that cost nothing until they are used; what was read at the start leaves
     * no hole. */
    mallopt(M_MMAP_THRESHOLD, TABLE_SIZE);
    st_write_small_at(AT_FDCWD, "/proc/self/oom_score_adj", "-999");
    setpriority(PRIO_PROCESS, 0, -10);
}

int st_home_open_group(void)
{
    st_auto_mounts mounts = {0};
    char group[PATH_MAX + NAME_MAX];

    if (st_mounts_read(0, &mounts, NULL) < 0)
        return -1;
    for (size_t i = 0; i < mounts.n; i++) {
        const struct st_mount *m = &mounts.list[i];

        if (strcmp(m->type, "cgroup2") != 0 || strcmp(m->root, "/") != 0)
            continue;
        snprintf(group, sizeof(group), "%s/sandtrace", m->point);
        mkdir(group, 0755);
        return open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return -1;
}

bool st_home_is_lodger(void)
{
    st_auto_buf text = ST_BUF_INIT;
    char *save = NULL;

    if (st_read_file("/proc/self/cgroup", CGROUP_FILE_MAX, &text, NULL) < 0)
        return false;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *path = strrchr(line, ':');

        if (path && strncmp(line, "0:", 2) != 0 && strcmp(path, ":/") != 0)
            return true;
    }
    return false;
}

static void move_to_root(const char *mount, const pid_t *pids, size_t n)
{
    char file[PATH_MAX + 16], text[16];

    snprintf(file, sizeof(file), "%s/cgroup.procs", mount);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%d", (int)pids[i]);
        st_write_small_at(AT_FDCWD, file, text);
    }
}

void st_home_move_out(const pid_t *pids, size_t n)
{
    st_auto_mounts mounts = {0};

    if (st_mounts_read(0, &mounts, NULL) < 0)
        return;
    for (size_t i = 0; i < mounts.n; i++)
        if (strcmp(mounts.list[i].type, "cgroup") == 0 && strcmp(mounts.list[i].root, "/") == 0)
            move_to_root(mounts.list[i].point, pids, n);
}

#define STACK_DEPTH ((uintptr_t)512 << 10)

ST_IDLE_CODE static void give_back(uintptr_t begin, size_t len)
{
    madvise((void *)begin, len, MADV_DONTNEED); // NOLINT(performance-no-int-to-ptr)
}

/* Clean pages of a file, which the kernel still has. */
ST_IDLE_CODE static int give_back_program(struct dl_phdr_info *info, size_t size, void *page_size)
{
    uintptr_t mask = ~(*(const uintptr_t *)page_size - 1);

    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = (info->dlpi_addr + segment->p_vaddr) & mask;

        if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
            give_back(begin, info->dlpi_addr + segment->p_vaddr + segment->p_memsz - begin);
    }
    return 0;
}

ST_IDLE_CODE void st_home_shed(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0) & ~(page - 1);

    malloc_trim(0);
    dl_iterate_phdr(give_back_program, &page);
    /* Nothing is alive two pages below our own frame. Where the stack never was so deep, nothing is done. */
    give_back(frame - 2 * page - STACK_DEPTH, STACK_DEPTH);
}
