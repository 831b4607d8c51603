/* storm: many at once.
 *
 *   storm flood PROCESSES SECONDS EVERY OPEN VIOLATE
 *       each process opens OPEN as fast as it can, and VIOLATE at each EVERYth time;
 *       prints how often they did both
 *   storm volley THREADS VIOLATE
 *       all threads of one process open VIOLATE in the same moment;
 *       prints how many were let and how many refused
 *   storm headless VIOLATE SAY
 *       the first thread of the process ends alone;
 *       then another one opens VIOLATE, makes the file SAY, and stays
 *
 * Static, no shell. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct tally {
    _Atomic unsigned long opens, violations, let, refused;
    _Atomic int ready;
};

static int try_open(const char *path)
{
    int fd = open(path, O_RDONLY);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void flood(struct tally *t, time_t end, long every, const char *fine, const char *bad)
{
    for (unsigned long n = 1; n % 256 || time(NULL) < end; n++) {
        if (n % (unsigned long)every) {
            t->opens += (unsigned)try_open(fine);
            continue;
        }
        t->violations++;
        if (try_open(bad))
            t->let++;
        else
            t->refused++;
    }
}

static int run_flood(struct tally *t, char **argv)
{
    int n = atoi(argv[2]);
    time_t end = time(NULL) + atoi(argv[3]);

    for (int i = 0; i < n; i++)
        if (fork() == 0) {
            flood(t, end, atol(argv[4]), argv[5], argv[6]);
            _exit(0);
        }
    while (wait(NULL) > 0)
        continue;
    printf("{\"let\":%lu,\"opens\":%lu,\"refused\":%lu,\"violations\":%lu}\n", t->let, t->opens, t->refused,
           t->violations);
    return 0;
}

struct shot {
    struct tally *tally;
    const char *path;
    int n;
};

static void *shoot(void *arg)
{
    struct shot *s = arg;

    s->tally->ready++;
    while (s->tally->ready < s->n)
        continue;
    if (try_open(s->path))
        s->tally->let++;
    else
        s->tally->refused++;
    return NULL;
}

static int run_volley(struct tally *t, char **argv)
{
    struct shot s = {t, argv[3], atoi(argv[2])};
    pthread_t threads[256];

    if (s.n < 1 || s.n > 256)
        return 2;
    for (int i = 0; i < s.n; i++)
        if (pthread_create(&threads[i], NULL, shoot, &s) != 0)
            return 1;
    for (int i = 0; i < s.n; i++)
        pthread_join(threads[i], NULL);
    printf("{\"let\":%lu,\"refused\":%lu}\n", t->let, t->refused);
    return 0;
}

struct headless {
    const char *path, *say;
};

static int first_thread_has_ended(void)
{
    char text[512], *state;
    FILE *f = fopen("/proc/self/stat", "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    state = strrchr(text, ')');
    return state && state[2] == 'Z';
}

static void *outlive(void *arg)
{
    const struct headless *h = arg;

    while (!first_thread_has_ended())
        usleep(1000);
    try_open(h->path);
    close(open(h->say, O_WRONLY | O_CREAT, 0644));
    for (;;)
        pause();
    return NULL;
}

static int run_headless(char **argv)
{
    static struct headless h;
    pthread_t thread;

    h = (struct headless){argv[2], argv[3]};
    if (pthread_create(&thread, NULL, outlive, &h) != 0)
        return 1;
    syscall(SYS_exit, 0); /* pthread_exit wants libgcc's, which is not there */
    return 1;
}

int main(int argc, char **argv)
{
    struct tally *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (t == MAP_FAILED)
        return 1;
    if (argc == 7 && strcmp(argv[1], "flood") == 0)
        return run_flood(t, argv);
    if (argc == 4 && strcmp(argv[1], "volley") == 0)
        return run_volley(t, argv);
    if (argc == 4 && strcmp(argv[1], "headless") == 0)
        return run_headless(argv);
    return 2;
}
