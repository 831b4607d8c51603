/* attack: what a container's program tries. Runs inside, says what came of it, one line each.
 *
 *   attack list                    the names of all calls
 *   attack try DIR [CALL…]         each call on things that it makes in DIR (where it may)
 *   attack hit DIR [CALL…]         each call on things that are there already, as they are
 *   attack through PATH…           unlink and open-for-writing by each path, as it stands
 *   attack race CALL IN OUT N      a thread swaps the path between IN and OUT while CALL is made N times
 *   attack swap IN OUT N           a thread swaps a directory and a symbolic link to OUT, in IN
 *   attack bypass                  what would get around it all
 *   attack reach                   what standard input says: see reach.h
 *   attack deep COMMAND…           in a directory whose path is longer than any path may be
 *   attack as memfd|deleted VERB…  the same by a program that has no name any more */
#include "bypass.h"
#include "calls.h"
#include "reach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void say(const char *what, long rc)
{
    printf("%s %s\n", what, rc < 0 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static void prepare(const char *dir)
{
    static const char *const made[] = {FILE_NAME, NEW_NAME, "file.other", "new.other", "link.other", NULL};
    char path[512];
    int fd;

    mkdir(dir, 0755);
    for (const char *const *name = made; *name; name++) {
        snprintf(path, sizeof(path), "%s/%s", dir, *name);
        unlink(path);
        rmdir(path);
    }
    snprintf(path, sizeof(path), "%s/" FILE_NAME, dir);
    fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (fd < 0 || write(fd, "some data\n", 10) != 10)
        perror(path);
    setxattr(path, "user.gone", "1", 1, 0);
    setxattr(path, "user.gone2", "1", 1, 0);
    setxattr(path, "user.gone3", "1", 1, 0);
    close(fd);
    snprintf(path, sizeof(path), "%s/" EMPTY_NAME, dir);
    mkdir(path, 0755);
    snprintf(path, sizeof(path), "%s/" LINK_NAME, dir);
    unlink(path);
    if (symlink(FILE_NAME, path) < 0)
        perror(path);
}

static const struct call *find(const char *name)
{
    for (const struct call *c = calls; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    fprintf(stderr, "no call %s\n", name);
    exit(2);
}

/* ftruncate of an fd for reading is refused by the kernel in any case: in its own place it gets one to write.
 */
static void try_one(const struct call *c, const char *dir, bool own)
{
    char path[512], file[512];
    struct attempt a = {.dir = dir, .path = path};

    if (own)
        prepare(dir);
    snprintf(path, sizeof(path), "%s/%s", dir, c->on);
    snprintf(file, sizeof(file), "%s/" FILE_NAME, dir);
    a.dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    a.fd = open(file, own ? O_RDWR : O_RDONLY);
    say(c->name, c->make(&a));
    close(a.dirfd);
    close(a.fd);
}

static int try_all(const char *dir, char **names, bool own)
{
    for (const struct call *c = calls; !names[0] && c->name; c++)
        try_one(c, dir, own);
    for (; names[0]; names++)
        try_one(find(names[0]), dir, own);
    return 0;
}

static int through(char **paths)
{
    int outside = open("/outside", O_PATH | O_DIRECTORY);

    printf("fd %d\n", outside);
    if (chdir("/workspace") < 0)
        return 1;
    for (; *paths; paths++) {
        int fd;

        say(*paths, unlink(*paths));
        fd = open(*paths, O_WRONLY | O_TRUNC);
        say(*paths, fd);
        say(*paths, mkdir(*paths, 0755));
        if (fd >= 0)
            close(fd);
    }
    say("dirfd", unlinkat(outside, FILE_NAME, 0));
    say("dirfd", unlinkat(outside, "../outside/" FILE_NAME, 0));
    return 0;
}

/* ---- races ---- */

static char shared[256];
static const char *in_path, *out_path;
static _Atomic bool stop;

static void pause_a_bit(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    for (volatile unsigned i = 0; i < (*seed >> 16) % 2048; i++)
        continue;
}

static void *flip(void *unused)
{
    unsigned seed = 1;

    (void)unused;
    while (!stop) {
        memcpy(shared, in_path, strlen(in_path) + 1);
        atomic_thread_fence(memory_order_seq_cst);
        pause_a_bit(&seed);
        memcpy(shared, out_path, strlen(out_path) + 1);
        atomic_thread_fence(memory_order_seq_cst);
        pause_a_bit(&seed);
    }
    return NULL;
}

/* Make what was done in the scope undone, so that the next try finds it as the first did. */
static void undo(const struct call *c, const char *in)
{
    char path[512], other[512];

    snprintf(path, sizeof(path), "%s/%s", in, c->on);
    snprintf(other, sizeof(other), "%s/%s.other", in, c->on);
    if (strcmp(c->on, NEW_NAME) == 0 && unlink(path) < 0)
        rmdir(path);
    if (strcmp(c->on, EMPTY_NAME) == 0)
        mkdir(path, 0755);
    if (strncmp(c->name, "unlink", 6) == 0)
        close(open(path, O_CREAT | O_WRONLY, 0644));
    if (strncmp(c->name, "rename", 6) == 0)
        rename(other, path);
    if (strncmp(c->name, "link", 4) == 0)
        unlink(other);
}

/* in and out are of the same length: no write is ever half of one and half of the other's length. */
static int race(const char *name, const char *in, const char *out, long n)
{
    const struct call *c = find(name);
    char paths[2][256];
    struct attempt a = {.path = shared, .dirfd = -1, .fd = -1};
    long ok = 0, refused = 0, floor = 0;
    pthread_t thread;

    snprintf(paths[0], sizeof(paths[0]), "%s/%s", in, c->on);
    snprintf(paths[1], sizeof(paths[1]), "%s/%s", out, c->on);
    in_path = paths[0];
    out_path = paths[1];
    a.dir = in;
    memcpy(shared, in_path, strlen(in_path) + 1);
    pthread_create(&thread, NULL, flip, NULL);
    for (long i = 0; i < n; i++) {
        long rc = c->make(&a);

        ok += rc >= 0;
        refused += rc < 0 && errno == EACCES;
        floor += rc < 0 && errno == EROFS;
        if (rc >= 0)
            undo(c, in);
    }
    stop = true;
    pthread_join(thread, NULL);
    printf("%s ok %ld refused %ld floor %ld\n", name, ok, refused, floor);
    return 0;
}

static void *exchange(void *unused)
{
    unsigned seed = 1;

    (void)unused;
    while (!stop) {
        syscall(SYS_renameat2, AT_FDCWD, in_path, AT_FDCWD, out_path, RENAME_EXCHANGE);
        pause_a_bit(&seed);
    }
    return NULL;
}

static int swap(const char *in, const char *out, long n)
{
    char directory[256], symbolic[256], victim[300];
    long ok = 0, floor = 0;
    pthread_t thread;

    snprintf(directory, sizeof(directory), "%s/d", in);
    snprintf(symbolic, sizeof(symbolic), "%s/s", in);
    snprintf(victim, sizeof(victim), "%s/d/" FILE_NAME, in);
    mkdir(directory, 0755);
    if (symlink(out, symbolic) < 0)
        perror(symbolic);
    in_path = directory;
    out_path = symbolic;
    pthread_create(&thread, NULL, exchange, NULL);
    for (long i = 0; i < n; i++) {
        int fd = open(victim, O_WRONLY | O_TRUNC | O_CREAT, 0644);

        ok += fd >= 0;
        floor += fd < 0 && errno == EROFS;
        if (fd >= 0)
            close(fd);
    }
    stop = true;
    pthread_join(thread, NULL);
    printf("swap ok %ld floor %ld\n", ok, floor);
    return 0;
}

static int run_deep(char **argv)
{
    char name[201] = {0};

    memset(name, 'd', sizeof(name) - 1);
    for (int i = 0; i < 30; i++)
        if ((mkdir(name, 0755) < 0 && errno != EEXIST) || chdir(name) < 0)
            return 1;
    execvp(argv[0], argv);
    return 1;
}

/* Goes on as a copy of itself that is nowhere to be found. */
static int run_as(const char *what, char **argv)
{
    static const char copy[] = "/workspace/attack-copy";
    int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), out, run;
    struct stat sb;

    if (strcmp(what, "memfd") == 0)
        out = (int)syscall(SYS_memfd_create, "attack", 0);
    else
        out = open(copy, O_RDWR | O_CREAT | O_TRUNC, 0755);
    if (out < 0 || fstat(in, &sb) < 0 || sendfile(out, in, NULL, (size_t)sb.st_size) != sb.st_size) {
        say(what, -1);
        return 1;
    }
    /* A program that is open for writing can't be run. */
    run = strcmp(what, "memfd") == 0 ? out : open(copy, O_RDONLY);
    if (run != out) {
        close(out);
        unlink(copy);
    }
    argv[0] = (char *)"attack";
    say(what, fexecve(run, argv, environ));
    return 1;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    umask(0);
    if (strcmp(verb, "list") == 0) {
        for (const struct call *c = calls; c->name; c++)
            puts(c->name);
        return 0;
    }
    if (argc >= 3 && (strcmp(verb, "try") == 0 || strcmp(verb, "hit") == 0))
        return try_all(argv[2], argv + 3, verb[0] == 't');
    if (argc >= 3 && strcmp(verb, "through") == 0)
        return through(argv + 2);
    if (argc == 6 && strcmp(verb, "race") == 0) {
        prepare(argv[3]);
        return race(argv[2], argv[3], argv[4], atol(argv[5]));
    }
    if (argc == 5 && strcmp(verb, "swap") == 0)
        return swap(argv[2], argv[3], atol(argv[4]));
    if (strcmp(verb, "bypass") == 0)
        return bypass();
    if (argc >= 3 && strcmp(verb, "deep") == 0)
        return run_deep(argv + 2);
    if (argc >= 4 && strcmp(verb, "as") == 0)
        return run_as(argv[2], argv + 2);
    if (strcmp(verb, "reach") == 0)
        return reach();
    fputs("usage: see attack.c\n", stderr);
    return 2;
}
