/* bare: what the kernel's way of asking costs by itself: a process in the control groups of another one asks,
 * one outside answers at once, and does nothing else. What a monitor takes beyond that is its own.
 *
 *   bare open PID N    an open that is reported by fanotify: poll, read, write, close
 *   bare look PID N    the same, with all read that an answer may depend on: registers, path, identity
 *   bare call PID N    a syscall that is notified: poll, RECV, SEND
 *   bare text PID N    the same, with a text read from the asker's memory, and ID_VALID after it
 *
 * Says in nanoseconds the median, and what nine of ten stay below. Marks nothing but a file system of its
 * own. */
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#endif

#define PLACE "/mnt"
#define FILE_THERE PLACE "/file"
#define TEXT 1025 /* as many bytes as the monitor reads of a text */

static char text[TEXT] = "/nowhere";

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- who asks ---- */

static void enter(const char *controllers, const char *group)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    const char *name = strncmp(controllers, "name=", 5) == 0 ? controllers + 5 : controllers;
    char path[4096];
    int fd = -1;

    for (size_t i = 0; i < 2 && fd < 0; i++) {
        snprintf(path, sizeof(path), "%s%s%s%s/cgroup.procs", places[i], *name ? "/" : "", name, group);
        fd = open(path, O_WRONLY | O_CLOEXEC);
    }
    if (fd < 0 || dprintf(fd, "%d", (int)getpid()) < 0)
        fail(path);
    close(fd);
}

/* "4:memory:/group", "0::/group". */
static void enter_all_of(const char *pid)
{
    char path[64], line[4096];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%s/cgroup", pid);
    f = fopen(path, "re");
    if (!f)
        fail(path);
    while (fgets(line, sizeof(line), f)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        enter(controllers + 1, group);
    }
    fclose(f);
}

static int64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * (int64_t)1000000000 + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void ask_once(bool by_open)
{
    int fd;

    if (!by_open) {
        syscall(SYS_kcmp, 1, 1, 1, 0, 0);
        return;
    }
    fd = open(FILE_THERE, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(FILE_THERE);
    close(fd);
}

static void ask(bool by_open, long n)
{
    int64_t *took = calloc((size_t)n, sizeof(*took));

    if (!took)
        fail("memory");
    for (long i = 0; i < n; i++) {
        took[i] = now_ns();
        ask_once(by_open);
        took[i] = now_ns() - took[i];
    }
    qsort(took, (size_t)n, sizeof(*took), compare);
    printf("%lld %lld\n", (long long)took[n / 2], (long long)took[n * 9 / 10]);
    fflush(stdout);
}

static int make_filter(void)
{
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        fail("no_new_privs");
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* ---- who answers ---- */

/* What is open of who asks, and of ourselves, stays so. */
static void look(pid_t tid, int fd)
{
    static int registers = -1, own_fds;
    char said[PATH_MAX], name[32];
    struct stat sb;

    if (registers < 0) {
        snprintf(name, sizeof(name), "/proc/%d/syscall", (int)tid);
        registers = open(name, O_RDONLY | O_CLOEXEC);
        own_fds = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    do
        if (pread(registers, said, sizeof(said), 0) <= 0)
            fail("registers");
    while (said[0] == 'r'); /* running */
    snprintf(name, sizeof(name), "%d", fd);
    if (readlinkat(own_fds, name, said, sizeof(said)) < 0 || fstat(fd, &sb) < 0)
        fail("the file");
}

static bool answer_open(int fan, int epfd, bool with_look)
{
    struct pollfd fds[] = {{.fd = fan, .events = POLLIN}, {.fd = epfd, .events = POLLIN}};
    struct fanotify_event_metadata m;
    struct fanotify_response r = {.response = FAN_ALLOW};

    if (poll(fds, 2, -1) < 0 || read(fan, &m, sizeof(m)) < 0)
        return false; /* who asks has ended: that woke us */
    if (with_look)
        look(m.pid, m.fd);
    r.fd = m.fd;
    if (write(fan, &r, sizeof(r)) < 0)
        fail("answer");
    close(m.fd);
    return true;
}

static bool answer_call(int filter, int epfd, bool with_text)
{
    struct pollfd fds[] = {{.fd = filter, .events = POLLIN}, {.fd = epfd, .events = POLLIN}};
    struct seccomp_notif asked = {0};
    struct seccomp_notif_resp r = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    struct iovec here = {text, sizeof(text)}, there = {text, sizeof(text)};

    if (poll(fds, 2, -1) < 0 || (fds[0].revents & POLLHUP))
        return false;
    if (!(fds[0].revents & POLLIN))
        return true; /* it came between the looks at the two */
    if (ioctl(filter, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
        return false;
    if (with_text && (process_vm_readv((pid_t)asked.pid, &here, 1, &there, 1, 0) < 0 ||
                      ioctl(filter, SECCOMP_IOCTL_NOTIF_ID_VALID, &asked.id) < 0))
        fail("look");
    r.id = asked.id;
    return ioctl(filter, SECCOMP_IOCTL_NOTIF_SEND, &r) == 0;
}

static int take_filter(int pidfd, const volatile int *number)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int fd;

    while (*number < 0)
        nanosleep(&moment, NULL);
    fd = (int)syscall(SYS_pidfd_getfd, pidfd, *number, 0);
    if (fd < 0)
        fail("the filter");
    ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP); /* where the kernel can */
    return fd;
}

static void watch(int epfd, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0)
        fail("epoll");
}

/* ---- both ---- */

/* In a mount namespace of our own, where nobody else comes. */
static void make_file(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("bare", PLACE, "tmpfs", 0, NULL) < 0)
        fail("a file system");
    close(open(FILE_THERE, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static int mark_file(void)
{
    int fan =
        fanotify_init(FAN_CLASS_CONTENT | FAN_UNLIMITED_QUEUE | FAN_REPORT_TID | FAN_CLOEXEC | FAN_NONBLOCK,
                      O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fan < 0 || fanotify_mark(fan, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_PERM, AT_FDCWD, PLACE) < 0)
        fail("fanotify");
    return fan;
}

static void be_asker(bool by_open, const char *pid, long n, volatile int *filter, int go)
{
    char word;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter_all_of(pid);
    if (!by_open && (*filter = make_filter()) < 0)
        _exit(1);
    if (read(go, &word, 1) != 1)
        _exit(1);
    ask(by_open, n);
    _exit(0);
}

int main(int argc, char **argv)
{
    long n = argc == 4 ? atol(argv[3]) : 0;
    bool with_look = n > 0 && strcmp(argv[1], "look") == 0, with_text = n > 0 && strcmp(argv[1], "text") == 0;
    bool by_open = with_look || (n > 0 && strcmp(argv[1], "open") == 0);
    volatile int *filter;
    int go[2], epfd = epoll_create1(EPOLL_CLOEXEC), pidfd, fd, status = 1;
    pid_t asker;

    if (n <= 0 || (!by_open && !with_text && strcmp(argv[1], "call") != 0)) {
        fprintf(stderr, "bare open|look|call|text PID N\n");
        return 2;
    }
    filter = mmap(NULL, sizeof(*filter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (filter == MAP_FAILED || pipe2(go, O_CLOEXEC) < 0)
        fail("memory");
    *filter = -1;
    if (by_open)
        make_file();
    asker = fork();
    if (asker == 0)
        be_asker(by_open, argv[2], n, filter, go[0]);
    pidfd = (int)syscall(SYS_pidfd_open, asker, 0);
    fd = by_open ? mark_file() : take_filter(pidfd, filter);
    watch(epfd, fd);
    watch(epfd, pidfd);
    if (write(go[1], "", 1) != 1)
        fail("go");
    while (by_open ? answer_open(fd, epfd, with_look) : answer_call(fd, epfd, with_text))
        continue;
    return waitpid(asker, &status, 0) == asker && status == 0 ? 0 : 1;
}
