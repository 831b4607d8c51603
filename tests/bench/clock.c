/* clock: how long something takes, in nanoseconds.
 *
 *   clock open FILE N    to open and close it so often: one of them
 *   clock each FILE N    the same, each by itself: the median, and what nine of ten stay below
 *   clock run COMMAND…   a command, from its fork to its end
 *
 * Static: it runs in any root. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * (int64_t)1000000000 + ts.tv_nsec;
}

static int opens(const char *path, long n)
{
    int64_t start = now_ns();

    for (long i = 0; i < n; i++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
            return 1;
        close(fd);
    }
    printf("%lld\n", (long long)((now_ns() - start) / n));
    return 0;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int each(const char *path, long n)
{
    int64_t *took = calloc((size_t)n, sizeof(*took));

    for (long i = 0; took && i < n; i++) {
        int64_t start = now_ns();
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
            return 1;
        close(fd);
        took[i] = now_ns() - start;
    }
    if (!took)
        return 1;
    qsort(took, (size_t)n, sizeof(*took), compare);
    printf("%lld %lld\n", (long long)took[n / 2], (long long)took[n * 9 / 10]);
    free(took);
    return 0;
}

static int run(char **argv)
{
    int64_t start = now_ns();
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
        return 1;
    printf("%lld\n", (long long)(now_ns() - start));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "open") == 0 && atol(argv[3]) > 0)
        return opens(argv[2], atol(argv[3]));
    if (argc == 4 && strcmp(argv[1], "each") == 0 && atol(argv[3]) > 0)
        return each(argv[2], atol(argv[3]));
    if (argc > 2 && strcmp(argv[1], "run") == 0)
        return run(argv + 2);
    return 2;
}
