/* forks: processes, many or deep.
 *
 *   forks children N [HOW]   begin N that stay, each HOW: fork (default), slowly, vfork, syscall, clone
 *                            prints for each "N ok" or the error; stays where all are there
 *   forks deep N [stay]      a chain of processes; prints how deep it came, "N ok" or the error, and ends
 *   forks sibling N          a chain of which each is its parent's sibling (CLONE_PARENT) after two forks
 *   forks storm N            vfork and end, N times; prints how many
 *   forks race T N           T threads begin N that stay, at the same time; prints how many there are
 *   forks daemon FILE SAY    fork twice, setsid; when its parents are gone it tries to write FILE, makes SAY,
 * stays forks masked NAME N      as children, under another name and command line forks bomb without end
 *
 * Static, no shell. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void stay(void)
{
    for (;;)
        pause();
}

static pid_t begin(const char *how)
{
    if (strcmp(how, "syscall") == 0)
        return (pid_t)syscall(SYS_fork);
    if (strcmp(how, "clone") == 0)
        return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    return fork();
}

/* The child has the parent's memory until it runs another program. */
static pid_t begin_by_vfork(char *self)
{
    char *const argv[] = {self, "stay", NULL};
    pid_t pid = vfork();

    if (pid == 0) {
        execv("/proc/self/exe", argv);
        _exit(1);
    }
    return pid;
}

static void say(int n, pid_t pid)
{
    printf("%d %s\n", n, pid < 0 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static int children(char *self, int n, const char *how)
{
    int failed = 0;

    for (int i = 1; i <= n; i++) {
        pid_t pid = strcmp(how, "vfork") == 0 ? begin_by_vfork(self) : begin(how);

        if (pid == 0)
            stay();
        failed += pid < 0;
        say(i, pid);
        if (strcmp(how, "slowly") == 0)
            usleep(20000);
    }
    if (!failed)
        stay();
    return failed ? 1 : 0;
}

struct task {
    int n;
    atomic_int *made;
    pthread_barrier_t *together;
};

static void *fork_in_thread(void *arg)
{
    struct task *t = arg;

    pthread_barrier_wait(t->together);
    for (int i = 0; i < t->n; i++) {
        pid_t pid = fork();

        if (pid == 0)
            stay();
        if (pid > 0)
            atomic_fetch_add(t->made, 1);
    }
    return NULL;
}

static int race(int threads, int n)
{
    pthread_t *all = calloc((size_t)threads, sizeof(*all));
    pthread_barrier_t together;
    atomic_int made = 0;
    struct task t = {n, &made, &together};

    pthread_barrier_init(&together, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, fork_in_thread, &t);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    printf("made %d\n", atomic_load(&made));
    return 0;
}

static int deep(int n, int stays)
{
    for (int depth = 1; depth <= n; depth++) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0) {
            if (depth == n)
                say(depth, 0);
            if (depth == n && stays)
                stay();
            continue;
        }
        if (pid < 0)
            say(depth, pid);
        else
            waitpid(pid, &status, 0);
        return pid < 0 || status != 0;
    }
    return 0;
}

/* Each generation: a child that makes a sibling of itself, and ends. */
static int sibling(int n)
{
    for (int depth = 1; depth <= n; depth++) {
        pid_t pid = fork();

        if (pid < 0) {
            say(depth, pid);
            _exit(1);
        }
        if (pid > 0) {
            if (depth == 1)
                break;
            _exit(0);
        }
        while (getppid() != 1) /* taken over: its sibling will be the first one's child */
            if (depth == 1)
                break;
        pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
        if (pid < 0)
            say(depth, pid);
        if (pid != 0)
            _exit(pid < 0);
        if (depth == n)
            say(depth, 0);
    }
    while (wait(NULL) > 0 || errno == EINTR)
        continue;
    return 0;
}

static int storm(int n)
{
    int done = 0;

    for (int i = 0; i < n; i++) {
        pid_t pid = vfork();

        if (pid == 0)
            _exit(0);
        done += pid > 0;
        waitpid(pid, NULL, 0);
    }
    printf("storm %d\n", done);
    return 0;
}

static int be_daemon(const char *file, const char *said)
{
    pid_t parent = getpid();
    int fd;

    if (fork() > 0)
        return 0;
    setsid();
    parent = getpid();
    if (fork() > 0)
        _exit(0);
    while (getppid() == parent)
        sched_yield();
    prctl(PR_SET_NAME, "kworker");
    fd = open(file, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
    fd = open(said, O_WRONLY | O_CREAT, 0600);
    stay();
    return fd;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;

    if (strcmp(what, "stay") == 0)
        stay();
    if (strcmp(what, "children") == 0)
        return children(argv[0], n, argc > 3 ? argv[3] : "fork");
    if (strcmp(what, "masked") == 0 && argc > 3) {
        n = atoi(argv[3]);
        prctl(PR_SET_NAME, argv[2]);
        memset(argv[0], 'x', strlen(argv[0]));
        return children("x", n, "fork");
    }
    if (strcmp(what, "race") == 0 && argc > 3)
        return race(n, atoi(argv[3]));
    if (strcmp(what, "deep") == 0)
        return deep(n, argc > 3);
    if (strcmp(what, "sibling") == 0)
        return sibling(n);
    if (strcmp(what, "storm") == 0)
        return storm(n);
    if (strcmp(what, "daemon") == 0 && argc > 3)
        return be_daemon(argv[2], argv[3]);
    while (strcmp(what, "bomb") == 0)
        (void)!fork();
    return 2;
}
