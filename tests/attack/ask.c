/* ask: what a container's program asks of the kernel. Runs inside, says what came of it, one line each.
 *
 *   ask list                 the names of all calls
 *   ask plain [CALL…]        each call, by syscall(2), in a process of its own
 *   ask thread [CALL…]       the same from a second thread
 *   ask libc                 those that the C library has a function for, by that
 *   ask many CALL TASKS      so many threads make the call at once and wait
 *   ask dying CALL N         N processes make the call and are killed at once
 *   ask number NR            a syscall by its number
 *   ask foreign              chroot and memfd_create by the numbers of other architectures
 *   ask socket FAMILY TYPE PROTOCOL
 *   ask times CALL N         one call, N times
 *   ask clock CALL N         the same, timed: nanoseconds, the median and what nine of ten stay below
 *
 * Arguments are such that nothing comes of a call that is let by: it is the asking that is tried. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

#define T(text) ((long)(uintptr_t)(text))
#define CWD ((long)AT_FDCWD)

static const struct __user_cap_header_struct cap_head = {_LINUX_CAPABILITY_VERSION_3, 0};
static const struct __user_cap_data_struct cap_sets[2];
static char room[512];

struct call {
    const char *name;
    long nr;
    long args[6];
};

#define CALL(name, ...)                                                                                      \
    {                                                                                                        \
#name, SYS_##name,                                                                                   \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

static const struct call calls[] = {
    CALL(ptrace, PTRACE_ATTACH, 999999),
    CALL(process_vm_readv, 999999, 0, 0, 0, 1),
    CALL(process_vm_writev, 999999, 0, 0, 0, 1),
    CALL(pidfd_getfd, -1, 0),
    CALL(kcmp, 1, 1, 1),
    CALL(memfd_create, T("program"), 0x11),
    CALL(memfd_secret, 1),
    CALL(mount, T("/etc"), T("/nowhere"), T("no\"fs"), MS_BIND | MS_REC),
    CALL(umount2, T("/nowhere"), MNT_DETACH),
    CALL(open_tree, CWD, T("/nowhere"), 1),
    CALL(move_mount, -1, T("/nowhere"), CWD, T("/there"), 4),
    CALL(fsopen, T("nofs"), 0),
    CALL(fsconfig, -1, 6),
    CALL(fsmount, -1),
    CALL(fspick, CWD, T("/nowhere")),
    CALL(mount_setattr, CWD, T("/nowhere"), 0, 0, 32),
    CALL(pivot_root, T("/nowhere"), T("/old")),
    CALL(chroot, T("/nowhere")),
    CALL(unshare, CLONE_NEWUTS),
    CALL(setns, -1, CLONE_NEWNET),
    CALL(clone, CLONE_NEWIPC | CLONE_THREAD),
    CALL(bpf, 5, 0, 0),
    CALL(perf_event_open, T(room), 0, -1, -1),
    CALL(keyctl, 1, 0),
    CALL(add_key, T("user"), T("description"), 0, 0, -1),
    CALL(request_key, T("user"), T("description"), 0, -1),
    CALL(init_module, 0, 0, T("parameters")),
    CALL(finit_module, -1, T("parameters"), 0),
    CALL(delete_module, T("module"), 0),
    CALL(kexec_load, 0, 0, 0, 0xff),
    CALL(kexec_file_load, -1, -1, 0, 0, 0xff),
    CALL(userfaultfd, 0x7f),
    CALL(io_uring_setup, 0, T(room)),
    CALL(fanotify_init, 0x7ffff),
    CALL(syslog, 10),
#ifdef SYS_iopl
    CALL(iopl, 99),
    CALL(ioperm, -1, 0, 1),
#endif
    CALL(open_by_handle_at, -1, 0, 0),
    CALL(name_to_handle_at, CWD, T("/nowhere"), 0, 0, 0),
    CALL(quotactl, 0x80000100, 0, 0),
    CALL(quotactl_fd, -1, 0x80000100, 0),
    CALL(swapon, T("/nowhere"), 0),
    CALL(swapoff, T("/nowhere")),
    CALL(reboot, 1, 2, 0x4321fedc),
    CALL(acct, T("/nowhere")),
    CALL(sethostname, T("host"), 4),
    CALL(setdomainname, T("home"), 4),
    CALL(settimeofday, 0, 0),
    CALL(clock_settime, 99, 0),
    CALL(adjtimex, T(room)),
    CALL(clock_adjtime, 0, T(room)),
    CALL(setuid, 0),
    CALL(setreuid, 0, -1),
    CALL(setresuid, -1, 0, -1),
    CALL(setfsuid, 0),
    CALL(setgid, 0),
    CALL(setregid, 0, -1),
    CALL(setresgid, -1, 0, -1),
    CALL(setfsgid, 0),
    CALL(capset, T(&cap_head), T(cap_sets)),
    CALL(personality, 0x40000),
    CALL(socket, AF_NETLINK, SOCK_RAW, 0),
    {NULL, 0, {0}},
};

static const struct call *find(const char *name)
{
    for (const struct call *c = calls; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    fprintf(stderr, "no call %s\n", name);
    exit(2);
}

static long make(const struct call *c)
{
    const long *a = c->args;

    return syscall(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void say(const char *what, long rc)
{
    printf("%s %s\n", what, rc < 0 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static void *in_thread(void *arg)
{
    const struct call *c = arg;

    say(c->name, make(c));
    return NULL;
}

static void attempt(const struct call *c, bool thread)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        pthread_t other;

        if (!thread)
            say(c->name, make(c));
        else if (pthread_create(&other, NULL, in_thread, (void *)(uintptr_t)c) == 0)
            pthread_join(other, NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("%s %s\n", c->name, sigabbrev_np(WTERMSIG(status)));
}

static void by_libc(void)
{
    say("mount", mount("/etc", "/nowhere", "nofs", MS_BIND, NULL));
    say("umount2", umount2("/nowhere", MNT_DETACH));
    say("unshare", unshare(CLONE_NEWUTS));
    say("setns", setns(-1, CLONE_NEWNET));
    say("ptrace", ptrace(PTRACE_ATTACH, 999999, 0, 0));
    say("chroot", chroot("/nowhere"));
    say("personality", personality(0x40000));
    say("setuid", setuid(0));
    say("setgid", setgid(0));
    say("socket", socket(AF_ALG, SOCK_SEQPACKET, 0));
    say("swapon", swapon("/nowhere", 0));
    say("sethostname", sethostname("host", 4));
}

struct crowd {
    const struct call *call;
    pthread_rwlock_t gate; /* open when all are there */
};

static void *make_one(void *arg)
{
    struct crowd *crowd = arg;
    long rc;

    pthread_rwlock_rdlock(&crowd->gate);
    pthread_rwlock_unlock(&crowd->gate);
    rc = make(crowd->call);
    return (void *)(intptr_t)(rc < 0 ? errno : 0);
}

/* How many came back, and with what. */
static int many(const struct call *c, size_t n)
{
    struct crowd crowd = {c, PTHREAD_RWLOCK_INITIALIZER};
    pthread_t *threads = calloc(n, sizeof(*threads));
    size_t got[4096] = {0}, started = 0;
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_rwlock_wrlock(&crowd.gate);
    while (started < n && pthread_create(&threads[started], &small, make_one, &crowd) == 0)
        started++;
    printf("started %zu\n", started);
    fflush(stdout);
    pthread_rwlock_unlock(&crowd.gate);
    for (size_t i = 0; i < started; i++) {
        void *error;

        if (pthread_join(threads[i], &error) == 0)
            got[(intptr_t)error]++;
    }
    for (size_t i = 0; i < 4096; i++)
        if (got[i])
            printf("%s %zu\n", i ? strerrorname_np((int)i) : "ok", got[i]);
    free(threads);
    return 0;
}

static void make_for_ever(const struct call *c)
{
    for (;;)
        make(c);
}

/* Each is killed in another moment of its asking, or of our being told of it. */
static void die_asking(const struct call *c, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        pid_t child = fork();

        if (child == 0)
            make_for_ever(c);
        for (volatile unsigned turn = 0; turn < i * 64; turn++)
            ;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    printf("died %u\n", n);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void clock_calls(const struct call *c, size_t n)
{
    int64_t *took = calloc(n + 1, sizeof(*took));

    for (size_t i = 0; took && i < n; i++) {
        int64_t begin = now_ns();

        make(c);
        took[i] = now_ns() - begin;
    }
    if (took) {
        qsort(took, n, sizeof(*took), by_size);
        printf("%lld %lld\n", (long long)took[n / 2], (long long)took[n * 9 / 10]);
    }
    free(took);
}

#ifdef __x86_64__
/* By the gate of 32 bits; what is pointed to lies below 4 GiB. */
static long gate_32(unsigned nr, const char *first, unsigned second)
{
    long rc;

    __asm__ volatile("int $0x80"
                     : "=a"(rc)
                     : "a"(nr), "b"((unsigned)(uintptr_t)first), "c"(second)
                     : "memory");
    if ((int)rc >= 0)
        return 0;
    errno = -(int)rc;
    return -1;
}

static void in_child(const char *name, long (*go)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        say(name, go());
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("%s %s\n", name, sigabbrev_np(WTERMSIG(status)));
    fflush(stdout);
}

static long chroot_32(void)
{
    return gate_32(61, "/nowhere", 0);
}

static long memfd_32(void)
{
    return gate_32(356, "program", 0x10);
}

static long chroot_x32(void)
{
    return syscall(0x40000000 + SYS_chroot, "/nowhere");
}

static long memfd_x32(void)
{
    return syscall(0x40000000 + SYS_memfd_create, "program", 0x10);
}

static void ask_foreign(void)
{
    in_child("i386-chroot", chroot_32);
    in_child("i386-memfd_create", memfd_32);
    in_child("x32-chroot", chroot_x32);
    in_child("x32-memfd_create", memfd_x32);
}
#else
static void ask_foreign(void)
{
}
#endif

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";

    if (strcmp(verb, "list") == 0) {
        for (const struct call *c = calls; c->name; c++)
            puts(c->name);
    } else if (strcmp(verb, "plain") == 0 || strcmp(verb, "thread") == 0) {
        for (int i = 2; i < argc; i++)
            attempt(find(argv[i]), *verb == 't');
        for (const struct call *c = calls; argc == 2 && c->name; c++)
            attempt(c, *verb == 't');
    } else if (strcmp(verb, "libc") == 0) {
        by_libc();
    } else if (strcmp(verb, "many") == 0 && argc == 4) {
        return many(find(argv[2]), strtoul(argv[3], NULL, 10));
    } else if (strcmp(verb, "dying") == 0 && argc == 4) {
        die_asking(find(argv[2]), (unsigned)strtoul(argv[3], NULL, 10));
    } else if (strcmp(verb, "socket") == 0 && argc == 5) {
        say(argv[2], socket(atoi(argv[2]), atoi(argv[3]), atoi(argv[4])));
    } else if (strcmp(verb, "number") == 0 && argc == 3) {
        say(argv[2], syscall(strtol(argv[2], NULL, 0), 0, 0, 0, 0, 0, 0));
    } else if (strcmp(verb, "foreign") == 0) {
        ask_foreign();
    } else if (strcmp(verb, "clock") == 0 && argc == 4) {
        clock_calls(find(argv[2]), strtoul(argv[3], NULL, 10));
    } else if (strcmp(verb, "times") == 0 && argc == 4) {
        for (unsigned long n = strtoul(argv[3], NULL, 10); n > 0; n--)
            make(find(argv[2]));
    } else {
        return 2;
    }
    return 0;
}
