/* clock: does some work and says how long it took and what it took of the processor, both in nanoseconds.
 *
 *   clock open N FILE…             opens and closes them in turn, N times in all
 *   clock read DIR N               opens, reads and closes the files 0 to N-1 there
 *   clock spawn N COMMAND…         starts it and waits for it, N times
 *   clock run COMMAND…             once
 *   clock connect ADDRESS PORT N   connections one after the other; nothing is asked for
 *   clock fetch ADDRESS PORT BYTES as many of them, on one connection
 *   clock each FILE N              opens and closes it; says the median of all, what nine of ten stay below
 *   clock serve ADDRESS PORT       the other side of both; until it is killed
 *
 * The processor's time is that of this process and of all its children. Static: it runs in any root. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 18 };

static int64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * (int64_t)1000000000 + ts.tv_nsec;
}

static int64_t cpu_ns_of(int who)
{
    struct rusage ru;

    getrusage(who, &ru);
    return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * (int64_t)1000000000 +
           (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * (int64_t)1000;
}

static int64_t cpu_ns(void)
{
    return cpu_ns_of(RUSAGE_SELF) + cpu_ns_of(RUSAGE_CHILDREN);
}

static int open_in_turn(int argc, char **argv)
{
    long n = atol(argv[0]);

    for (long i = 0; i < n; i++) {
        int fd = open(argv[1 + i % (argc - 1)], O_RDONLY | O_CLOEXEC);

        if (fd < 0)
            return -1;
        close(fd);
    }
    return 0;
}

static int read_once(int argc, char **argv)
{
    long n = atol(argv[1]);
    char path[PATH_MAX], piece[4096];

    (void)argc;
    for (long i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%ld", argv[0], i);
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || read(fd, piece, sizeof(piece)) < 0)
            return -1;
        close(fd);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int each(int argc, char **argv)
{
    char once[] = "1";
    long n = atol(argv[1]);
    int64_t *took = n > 0 ? calloc((size_t)n, sizeof(*took)) : NULL;

    for (long i = 0; took && i < n; i++) {
        int64_t start = now_ns();

        if (open_in_turn(argc, (char *[]){once, argv[0]}) < 0)
            return -1;
        took[i] = now_ns() - start;
    }
    if (!took)
        return -1;
    qsort(took, (size_t)n, sizeof(*took), compare);
    printf("%lld %lld\n", (long long)took[n / 2], (long long)took[n * 9 / 10]);
    free(took);
    return 0;
}

static int run(int argc, char **argv)
{
    pid_t pid = fork();
    int status;

    (void)argc;
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    return pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0 ? -1 : 0;
}

static int spawn(int argc, char **argv)
{
    for (long n = atol(argv[0]); n > 0; n--)
        if (run(argc - 1, argv + 1) < 0)
            return -1;
    return 0;
}

static int socket_to(char **argv, struct sockaddr_in *to)
{
    *to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};
    return inet_pton(AF_INET, argv[0], &to->sin_addr) == 1 ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
                                                           : -1;
}

/* What is asked for is a number of bytes; the other side closes when it has sent them. */
static int fetch_bytes(char **argv, int64_t bytes)
{
    static char piece[PIECE];
    struct sockaddr_in to;
    int fd = socket_to(argv, &to);
    ssize_t got;

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
        send(fd, &bytes, sizeof(bytes), MSG_NOSIGNAL) != sizeof(bytes))
        return -1;
    while ((got = recv(fd, piece, sizeof(piece), 0)) > 0)
        bytes -= got;
    close(fd);
    return bytes == 0 ? 0 : -1;
}

static int fetch(int argc, char **argv)
{
    (void)argc;
    return fetch_bytes(argv, atoll(argv[2]));
}

static int connect_often(int argc, char **argv)
{
    (void)argc;
    for (long n = atol(argv[2]); n > 0; n--)
        if (fetch_bytes(argv, 1) < 0)
            return -1;
    return 0;
}

static int serve(int argc, char **argv)
{
    static const char piece[PIECE];
    struct sockaddr_in at;
    int listener = socket_to(argv, &at), on = 1;

    (void)argc;
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 512) < 0)
        return -1;
    puts("ready");
    fflush(stdout);
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        int64_t bytes = 0;

        if (fd < 0)
            continue;
        if (recv(fd, &bytes, sizeof(bytes), MSG_WAITALL) != sizeof(bytes))
            bytes = 0;
        while (bytes > 0) {
            ssize_t sent = send(fd, piece, bytes < PIECE ? (size_t)bytes : PIECE, MSG_NOSIGNAL);

            if (sent <= 0)
                break;
            bytes -= sent;
        }
        close(fd);
    }
}

static const struct {
    const char *name;
    int least;
    int (*does)(int argc, char **argv);
    bool speaks; /* for itself */
} kinds[] = {
    {"open", 2, open_in_turn, false},
    {"read", 2, read_once, false},
    {"spawn", 2, spawn, false},
    {"run", 1, run, false},
    {"connect", 3, connect_often, false},
    {"fetch", 3, fetch, false},
    {"each", 2, each, true},
    {"serve", 2, serve, true},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (argc - 2 < kinds[i].least || strcmp(argv[1], kinds[i].name) != 0)
            continue;
        int64_t wall = now_ns(), cpu = cpu_ns();

        if (kinds[i].does(argc - 2, argv + 2) < 0) {
            perror(argv[1]);
            return 1;
        }
        if (!kinds[i].speaks)
            printf("%lld %lld\n", (long long)(now_ns() - wall), (long long)(cpu_ns() - cpu));
        return 0;
    }
    fprintf(stderr, "clock: see its source\n");
    return 2;
}
