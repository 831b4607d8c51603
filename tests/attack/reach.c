/* reach: see reach.h. */
#include "reach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN "/workspace/own" /* where it may do as it likes; made by the first that needs it */
#define TRIES 200

static char *own(const char *what)
{
    static char room[PATH_MAX];

    mkdir(OWN, 0755);
    snprintf(room, sizeof(room), OWN "/%s.%d", what, (int)getpid());
    return room;
}

/* "/a/b" is "/a" and "b". */
static const char *split(const char *path, char dir[PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    snprintf(dir, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return slash + 1;
}

/* ---- ways: from a path to another one of the same object; -1: the way is closed ---- */

static int by_plain(const char *path, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%s", path);
}

static int by_relative(const char *path, char out[PATH_MAX])
{
    char dir[PATH_MAX];
    const char *name = split(path, dir);

    snprintf(out, PATH_MAX, "./%s", name);
    return chdir(dir);
}

static int by_dotdot(const char *path, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "/workspace/.././%s", path);
}

static int by_link(const char *path, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s", own("link"));
    return symlink(path, out);
}

static int by_link_to_directory(const char *path, char out[PATH_MAX])
{
    char dir[PATH_MAX], *at = own("middle");
    const char *name = split(path, dir);

    snprintf(out, PATH_MAX, "%s/%s", at, name);
    return symlink(dir, at);
}

static int by_hard_link(const char *path, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s", own("hard"));
    return link(path, out);
}

static int by_proc_root(const char *path, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "/proc/self/root%s", path);
}

static int by_proc_cwd(const char *path, char out[PATH_MAX])
{
    char dir[PATH_MAX];

    snprintf(out, PATH_MAX, "/proc/self/cwd/%s", split(path, dir));
    return chdir(dir);
}

/* An fd of the object that may not be used for anything yet. */
static int by_fd(const char *path, char out[PATH_MAX])
{
    int fd = open(path, O_PATH | O_CLOEXEC);

    snprintf(out, PATH_MAX, "/proc/self/fd/%d", fd);
    return fd;
}

static int by_fd_of_directory(const char *path, char out[PATH_MAX])
{
    char dir[PATH_MAX];
    const char *name = split(path, dir);
    int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    snprintf(out, PATH_MAX, "/proc/self/fd/%d/%s", fd, name);
    return fd;
}

union fd_message {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int))];
};

static int send_fd(int socket, int fd)
{
    union fd_message control = {0};
    struct iovec iov = {(char[1]){'x'}, 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    return (int)sendmsg(socket, &m, 0);
}

static int receive_fd(int socket)
{
    union fd_message control;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    int fd = -1;

    if (recvmsg(socket, &m, 0) < 1 || !CMSG_FIRSTHDR(&m))
        return -1;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
    return fd;
}

/* Another process finds it, and hands it over. */
static int by_passed_fd(const char *path, char out[PATH_MAX])
{
    int ends[2], fd;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return -1;
    if (fork() == 0)
        _exit(send_fd(ends[1], open(path, O_PATH)) < 0);
    close(ends[1]);
    fd = receive_fd(ends[0]);
    snprintf(out, PATH_MAX, "/proc/self/fd/%d", fd);
    return fd;
}

static int by_chroot(const char *path, char out[PATH_MAX])
{
    char dir[PATH_MAX];

    snprintf(out, PATH_MAX, "/%s", split(path, dir));
    return chdir(dir) < 0 ? -1 : chroot(".");
}

static int by_bind_mount(const char *path, char out[PATH_MAX])
{
    char dir[PATH_MAX], *at = own("bind");
    const char *name = split(path, dir);

    snprintf(out, PATH_MAX, "%s/%s", at, name);
    mkdir(at, 0755);
    return mount(dir, at, NULL, MS_BIND, NULL);
}

/* A namespace of mounts has other mounts than those that were there when the watch began. */
static int by_new_mounts(const char *path, char out[PATH_MAX])
{
    by_plain(path, out);
    return unshare(CLONE_NEWNS);
}

static int by_new_user(const char *path, char out[PATH_MAX])
{
    by_plain(path, out);
    return unshare(CLONE_NEWUSER | CLONE_NEWNS);
}

/* The child goes on as if nothing had been: who asked waits for it. */
static int by_cloned_mounts(const char *path, char out[PATH_MAX])
{
    long child = syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);

    by_plain(path, out);
    if (child > 0) {
        waitpid((pid_t)child, NULL, 0);
        _exit(0);
    }
    return (int)child;
}

static int by_bind_in_new_user(const char *path, char out[PATH_MAX])
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return -1;
    return by_bind_mount(path, out);
}

static const struct {
    const char *name;
    int (*go)(const char *path, char out[PATH_MAX]);
} ways[] = {
    {"plain", by_plain},
    {"relative", by_relative},
    {"dotdot", by_dotdot},
    {"link", by_link},
    {"middle", by_link_to_directory},
    {"hard", by_hard_link},
    {"proc-root", by_proc_root},
    {"proc-cwd", by_proc_cwd},
    {"fd", by_fd},
    {"fd-of-directory", by_fd_of_directory},
    {"passed-fd", by_passed_fd},
    {"chroot", by_chroot},
    {"bind", by_bind_mount},
    {"mount-namespace", by_new_mounts},
    {"cloned-namespace", by_cloned_mounts},
    {"user-namespace", by_new_user},
    {"bind-in-user-namespace", by_bind_in_new_user},
};

/* ---- acts ---- */

static int done(int fd)
{
    if (fd >= 0)
        close(fd);
    return fd;
}

static int do_read(const char *path)
{
    return done(open(path, O_RDONLY));
}

static int do_list(const char *path)
{
    return done(open(path, O_RDONLY | O_DIRECTORY));
}

static int do_write(const char *path)
{
    return done(open(path, O_WRONLY | O_APPEND));
}

static int do_both(const char *path)
{
    return done(open(path, O_RDWR));
}

static int do_create(const char *path)
{
    return done(open(path, O_WRONLY | O_CREAT, 0755));
}

static int do_overwrite(const char *path)
{
    return done(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
}

static int do_rename(const char *path)
{
    return rename(path, own("stolen"));
}

static int do_replace(const char *path)
{
    char *mine = own("mine");

    done(open(mine, O_WRONLY | O_CREAT, 0644));
    return rename(mine, path);
}

static int do_link(const char *path)
{
    return link(path, own("second"));
}

static int do_link_followed(const char *path)
{
    return linkat(AT_FDCWD, path, AT_FDCWD, own("second"), AT_SYMLINK_FOLLOW);
}

static int do_truncate(const char *path)
{
    return truncate(path, 0);
}

static int do_chmod(const char *path)
{
    return chmod(path, 0777);
}

static int do_chown(const char *path)
{
    return chown(path, 1, 1);
}

static int do_mkdir(const char *path)
{
    return mkdir(path, 0755);
}

static int do_symlink(const char *path)
{
    return symlink("/etc/passwd", path);
}

static int do_exec(const char *path)
{
    return execl(path, path, NULL);
}

static const struct {
    const char *name;
    int (*make)(const char *path);
} acts[] = {
    {"read", do_read},         {"list", do_list},       {"write", do_write},
    {"both", do_both},         {"create", do_create},   {"overwrite", do_overwrite},
    {"unlink", unlink},        {"rmdir", rmdir},        {"rename", do_rename},
    {"replace", do_replace},   {"link", do_link},       {"link-followed", do_link_followed},
    {"truncate", do_truncate}, {"chmod", do_chmod},     {"chown", do_chown},
    {"mkdir", do_mkdir},       {"symlink", do_symlink}, {"exec", do_exec},
};

/* ---- races: the path, or what it leads to, changes between the check and the use ---- */

static char shared[PATH_MAX];
static char places[2][PATH_MAX];
static _Atomic bool stop;

static void *flip_bytes(void *unused)
{
    (void)unused;
    for (unsigned i = 0; !stop; i++) {
        memcpy(shared, places[i & 1], sizeof(places[0]));
        atomic_thread_fence(memory_order_seq_cst);
    }
    return NULL;
}

static void *flip_links(void *unused)
{
    (void)unused;
    while (!stop)
        syscall(SYS_renameat2, AT_FDCWD, places[0], AT_FDCWD, places[1], 2 /* RENAME_EXCHANGE */);
    return NULL;
}

/* What was opened is the guarded object itself? Neither path nor errno tells. */
static bool is_same(int fd, const char *path)
{
    struct stat got, want;

    return fstat(fd, &got) == 0 && stat(path, &want) == 0 && got.st_dev == want.st_dev &&
           got.st_ino == want.st_ino;
}

static int race(const char *path, int flags, void *(*flip)(void *))
{
    char fine[PATH_MAX];
    pthread_t thread;
    int won = 0, refused = 0;

    snprintf(fine, sizeof(fine), "%s", own("fine"));
    done(open(fine, O_WRONLY | O_CREAT, 0644));
    if (flip == flip_bytes) {
        snprintf(places[0], sizeof(places[0]), "%s", fine);
        snprintf(places[1], sizeof(places[1]), "%s", path);
        memcpy(shared, places[0], sizeof(shared));
    } else {
        snprintf(places[0], sizeof(places[0]), "%s", own("a"));
        snprintf(places[1], sizeof(places[1]), "%s", own("b"));
        if (symlink(fine, places[0]) < 0 || symlink(path, places[1]) < 0)
            return -1;
        memcpy(shared, places[0], sizeof(shared));
    }
    pthread_create(&thread, NULL, flip, NULL);
    /* Both must have come up. */
    for (int i = 0; i < TRIES || (!refused && !won && i < 1000 * TRIES); i++) {
        int fd = open(shared, flags);

        refused += fd < 0 && (errno == EPERM || errno == EACCES);
        won += fd >= 0 && is_same(fd, path);
        done(fd);
    }
    stop = true;
    pthread_join(thread, NULL);
    errno = EACCES;
    return won ? 0 : -1;
}

/* ---- one line of the table ---- */

static int try_race(const char *way, const char *act, const char *path, int *rc)
{
    int flags = strcmp(act, "read") == 0 ? O_RDONLY : O_WRONLY | O_APPEND;

    if (strcmp(way, "race") == 0)
        *rc = race(path, flags, flip_bytes);
    else if (strcmp(way, "race-of-links") == 0)
        *rc = race(path, flags, flip_links);
    else
        return 0;
    return 1;
}

static void report(const char *way, const char *act, const char *path, const char *prefix, int rc)
{
    printf("%d %s %s %s %s%s\n", (int)getpid(), way, act, path, rc < 0 ? prefix : "",
           rc < 0 ? strerrorname_np(errno) : "ok");
}

static int attempt(const char *way, const char *act, const char *path)
{
    char reached[PATH_MAX], prefix[64];
    int rc;

    if (try_race(way, act, path, &rc)) {
        report(way, act, path, "", rc);
        return 0;
    }
    snprintf(prefix, sizeof(prefix), "%s:", way);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(way, ways[i].name) != 0)
            continue;
        rc = ways[i].go(path, reached);
        for (size_t k = 0; rc >= 0 && k < sizeof(acts) / sizeof(acts[0]); k++)
            if (strcmp(act, acts[k].name) == 0) {
                report(way, act, path, "", acts[k].make(reached));
                return 0;
            }
        report(way, act, path, prefix, rc);
        return rc >= 0; /* no such act */
    }
    printf("no way %s\n", way);
    return 1;
}

int reach(void)
{
    char line[2 * PATH_MAX], way[64], act[64], path[PATH_MAX];
    int bad = 0, status;

    while (fgets(line, sizeof(line), stdin)) {
        pid_t child;

        if (line[0] == '#' || sscanf(line, "%63s %63s %4095s", way, act, path) != 3)
            continue;
        child = fork();
        if (child == 0) {
            int rc = attempt(way, act, path);

            fflush(stdout);
            _exit(rc);
        }
        if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) {
            printf("%d %s %s %s %s\n", (int)child, way, act, path,
                   WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : "lost");
            continue;
        }
        bad |= WEXITSTATUS(status);
    }
    return bad;
}
