/* execs: ways to execute a file. Runs inside, says what came of each: `ok`, or the error that execve gave.
 *
 *   execs say WORD                    prints it: what the others run
 *   execs WAY FILE [ARGUMENT…]        runs FILE with the arguments, in a child, by WAY (see the table)
 *   execs copy FROM TO                as an agent without cp would
 *   execs memory FLAGS NAME [ROOM]    memfd_create; NAME `bad` has no address, `long` is of 300 bytes. ROOM:
 * so many fds it may have execs marker                      ends with 7, or with 8 if this very file was
 * changed execs race FILE N                 runs FILE, a copy of this one, N times while another process
 * changes it there and back; says how often it was good, evil, or did not run */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *none[] = {NULL};

static int open_copy(const char *file, int to)
{
    int from = open(file, O_RDONLY | O_CLOEXEC);

    while (from >= 0 && to >= 0 && sendfile(to, from, NULL, 1 << 20) > 0)
        continue;
    if (from >= 0)
        close(from);
    return to;
}

static void at(int fd, const char *path, char **argv, int flags)
{
    syscall(SYS_execveat, fd, path, argv, none, flags);
}

static void plain(char **argv)
{
    execve(argv[0], argv, none);
}

static int make_memfd(const char *file, unsigned flags)
{
    return open_copy(file, (int)syscall(SYS_memfd_create, "x", flags));
}

static void memfd_by_fd(char **argv)
{
    at(make_memfd(argv[0], 0), "", argv, AT_EMPTY_PATH);
}

static void executable_memfd(char **argv)
{
    int fd = make_memfd(argv[0], 0x10 /* MFD_EXEC */);

    if (fd >= 0)
        at(fd, "", argv, AT_EMPTY_PATH);
}

/* What the kernel tells of an execution that does not happen. */
static void checked_memfd(char **argv)
{
    at(make_memfd(argv[0], 0), "", argv, AT_EMPTY_PATH | 0x10000 /* AT_EXECVE_CHECK */);
}

/* From a table of fds that another task has as well. */
static int share_table(void *argv)
{
    memfd_by_fd(argv);
    return errno;
}

static void shared_memfd(char **argv)
{
    static _Alignas(16) char stack[65536];
    int status;
    pid_t child = clone(share_table, stack + sizeof(stack), CLONE_FILES | CLONE_VM | SIGCHLD, argv);

    if (child > 0 && waitpid(child, &status, 0) == child)
        errno = WEXITSTATUS(status);
}

static void memfd_by_proc(char **argv)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", make_memfd(argv[0], 0));
    execve(path, argv, none);
}

/* A copy whose name is taken away before it runs. */
static void deleted(char **argv)
{
    const char *name = "/workspace/gone";
    int to = open_copy(argv[0], open(name, O_CREAT | O_WRONLY | O_TRUNC, 0755)), fd = open(name, O_RDONLY);

    close(to);
    unlink(name);
    at(fd, "", argv, AT_EMPTY_PATH);
}

static void by_directory(char **argv)
{
    char *slash = strrchr(argv[0], '/');
    int dir;

    *slash = '\0';
    dir = open(*argv[0] ? argv[0] : "/", O_PATH | O_DIRECTORY);
    *slash = '/';
    at(dir, slash + 1, argv, 0);
}

static void by_path_fd(char **argv)
{
    at(open(argv[0], O_PATH), "", argv, AT_EMPTY_PATH);
}

static void *in_thread(void *argv)
{
    plain(argv);
    return (void *)(intptr_t)errno;
}

static void thread(char **argv)
{
    pthread_t t;
    void *error;

    pthread_create(&t, NULL, in_thread, argv);
    pthread_join(t, &error);
    errno = (int)(intptr_t)error;
}

/* Calls itself by another name, for who believes names. */
static void disguised(char **argv)
{
    char *file = argv[0];

    prctl(PR_SET_NAME, "sshd");
    argv[0] = "/usr/sbin/sshd";
    execve(file, argv, none);
}

/* Somebody has it open for writing. */
static void written(char **argv)
{
    int fd = open(argv[0], O_WRONLY);

    if (fd >= 0)
        plain(argv);
}

/* Nobody has it open; but a mapping for writing is left. */
static void mapped(char **argv)
{
    int fd = open(argv[0], O_RDWR);
    volatile char *bytes = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (bytes == MAP_FAILED)
        return;
    bytes[0] = bytes[0];
    close(fd);
    plain(argv);
}

static void no_argv(char **argv)
{
    syscall(SYS_execve, argv[0], NULL, none);
}

static void bad_argv(char **argv)
{
    char *words[] = {argv[0], (char *)8, NULL};

    execve(argv[0], words, none);
}

static void long_argv(char **argv)
{
    static char word[9000];
    char *words[] = {argv[0], argv[1], word, NULL};

    memset(word, 'x', sizeof(word) - 1);
    execve(argv[0], words, none);
}

/* The same call twice, with a script first that comes to nothing: is the second taken for its interpreter? */
static void after_a_failure(char **argv)
{
    static char path[256];
    char *words[] = {path, argv[1], argv[2], NULL};
    int fd = open("/workspace/broken", O_CREAT | O_WRONLY | O_TRUNC, 0755);

    if (write(fd, "#!/no/such/file\n", 16) != 16)
        return;
    close(fd);
    snprintf(path, sizeof(path), "/workspace/broken");
    for (int i = 0; i < 2; i++) {
        execve(path, words, none);
        snprintf(path, sizeof(path), "%s", argv[0]);
    }
}

static const struct way {
    const char *name;
    void (*go)(char **argv);
} ways[] = {{"plain", plain},
            {"memfd", memfd_by_fd},
            {"executable-memfd", executable_memfd},
            {"memfd-by-proc", memfd_by_proc},
            {"memfd-checked", checked_memfd},
            {"memfd-shared", shared_memfd},
            {"deleted", deleted},
            {"at", by_directory},
            {"by-fd", by_path_fd},
            {"thread", thread},
            {"disguised", disguised},
            {"written", written},
            {"mapped", mapped},
            {"no-argv", no_argv},
            {"bad-argv", bad_argv},
            {"long-argv", long_argv},
            {"after-a-failure", after_a_failure}};

/* The error comes by a pipe that a successful execve closes. */
static int run(const struct way *w, char **argv)
{
    int report[2], error = 0, status;
    pid_t child;

    fflush(stdout);
    if (pipe2(report, O_CLOEXEC) < 0 || (child = fork()) < 0)
        return 2;
    if (child == 0) {
        w->go(argv);
        error = errno;
        if (write(report[1], &error, sizeof(error)) < 0)
            _exit(3);
        _exit(2);
    }
    close(report[1]);
    if (read(report[0], &error, sizeof(error)) < 0)
        return 2;
    waitpid(child, &status, 0);
    printf("%s %s\n", w->name, error ? strerrorname_np(error) : "ok");
    return error != 0;
}

/* ---- a file in memory ---- */

static int make_memory(unsigned long flags, const char *name, const char *room)
{
    static char longer[301];
    struct rlimit few = {0};
    const char *at = strcmp(name, "bad") == 0 ? (const char *)8 : strcmp(name, "long") == 0 ? longer : name;
    long fd;

    memset(longer, 'x', sizeof(longer) - 1);
    if (room) {
        few.rlim_cur = few.rlim_max = strtoul(room, NULL, 0);
        if (setrlimit(RLIMIT_NOFILE, &few) < 0)
            return 2;
    }
    fd = syscall(SYS_memfd_create, at, flags);
    printf("memory %#lx %s %s\n", flags, name, fd < 0 ? strerrorname_np(errno) : "ok");
    return fd < 0;
}

/* ---- a file that changes while it is executed ---- */

static const volatile char marker[] = "marker=good";

static void change(const char *file, off_t at, const char *word)
{
    int fd = open(file, O_WRONLY);

    if (fd < 0)
        return;
    if (pwrite(fd, word, 4, at) != 4)
        perror(file);
    close(fd);
}

_Noreturn static void change_for_ever(const char *file, off_t at)
{
    for (;;) {
        change(file, at, "evil");
        change(file, at, "good");
    }
}

static off_t find_marker(const char *file)
{
    struct stat sb;
    int fd = open(file, O_RDONLY);
    const char *bytes, *found = NULL;

    if (fd < 0 || fstat(fd, &sb) < 0)
        return -1;
    bytes = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED)
        found = memmem(bytes, (size_t)sb.st_size, (const char *)marker, sizeof(marker));
    close(fd);
    return found ? found - bytes + 7 : -1;
}

static int race(const char *file, int times)
{
    off_t at = find_marker(file);
    int good = 0, evil = 0, other = 0, status;
    pid_t writer = at < 0 ? -1 : fork();

    if (writer < 0)
        return 2;
    if (writer == 0)
        change_for_ever(file, at);
    for (int i = 0; i < times; i++) {
        pid_t child = fork();

        if (child == 0) {
            execl(file, file, "marker", NULL);
            _exit(9);
        }
        waitpid(child, &status, 0);
        good += WEXITSTATUS(status) == 7;
        evil += WEXITSTATUS(status) == 8;
        other += WEXITSTATUS(status) == 9;
    }
    kill(writer, SIGKILL);
    waitpid(writer, &status, 0);
    printf("good %d evil %d not %d\n", good, evil, other);
    return evil > 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "marker") == 0)
        return marker[7] == 'g' ? 7 : 8;
    if (argc == 4 && strcmp(argv[1], "race") == 0)
        return race(argv[2], atoi(argv[3]));
    if (argc > 2 && strcmp(argv[1], "say") == 0) {
        puts(argv[2]);
        return 0;
    }
    if ((argc == 4 || argc == 5) && strcmp(argv[1], "memory") == 0)
        return make_memory(strtoul(argv[2], NULL, 0), argv[3], argv[4]);
    if (argc == 4 && strcmp(argv[1], "copy") == 0)
        return close(open_copy(argv[2], open(argv[3], O_CREAT | O_WRONLY | O_TRUNC, 0755))) < 0;
    for (size_t i = 0; argc > 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(ways[i].name, argv[1]) == 0)
            return run(&ways[i], argv + 2);
    return argc == 1 ? 0 : 2;
}
