/* marker FILE PATH: opens PATH for ever and counts in a shared page (FILE) how often it got to the
 * instruction behind the open. A second thread counts too: it shows that a freeze stops the others. Static,
 * no shell. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

struct page {
    _Atomic uint64_t marker;  /* instructions behind the open */
    _Atomic uint64_t sibling; /* of the other thread */
    _Atomic uint64_t opened;  /* opens that succeeded */
};

static void *spin(void *arg)
{
    struct page *p = arg;

    for (;;)
        atomic_fetch_add(&p->sibling, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    struct page *p;
    pthread_t thread;
    int fd;

    if (argc != 3)
        return 2;
    fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(*p)) < 0)
        return 1;
    p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED || pthread_create(&thread, NULL, spin, p) != 0)
        return 1;
    for (;;) {
        int got = open(argv[2], O_RDONLY);

        atomic_fetch_add(&p->marker, 1);
        if (got >= 0) {
            atomic_fetch_add(&p->opened, 1);
            close(got);
        }
    }
}
