/* netshare: see netshare.h. */
#include "monitor/netshare.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIRECTORY ".net" /* who lists containers leaves out what begins with a dot */
#define TRIES 16

/* What is open may have been removed by a keeper who left as we came. */
static bool is_there(const struct st_netshare *s, int fd)
{
    struct stat by_name, by_fd;

    return stat(s->path, &by_name) == 0 && fstat(fd, &by_fd) == 0 && by_name.st_ino == by_fd.st_ino &&
           by_name.st_dev == by_fd.st_dev;
}

/* The writing end, locked. 0; -EWOULDBLOCK: another one has it; -ESTALE: it was removed meanwhile. */
static int try_to_keep(struct st_netshare *s)
{
    /* Without a reader the kernel gives no writing end: for a moment we are both. */
    st_auto_fd both = open(s->path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    st_auto_fd writer = both < 0 ? -1 : open(s->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);

    if (writer < 0)
        return errno == ENOENT ? -ESTALE : -errno;
    if (flock(writer, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    if (!is_there(s, writer))
        return -ESTALE;
    st_close(&s->fd);
    s->fd = st_steal_fd(&writer);
    s->keeper = true;
    return 0;
}

static int wait_for_keeper(struct st_netshare *s)
{
    st_auto_fd reader = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);

    if (reader < 0)
        return errno == ENOENT ? -ESTALE : -errno;
    if (!is_there(s, reader))
        return -ESTALE;
    st_close(&s->fd);
    s->fd = st_steal_fd(&reader);
    return 0;
}

/* The last one to leave takes it away. */
static int make_directory(const struct st_netshare *s)
{
    char directory[sizeof(s->path)];

    memcpy(directory, s->path, sizeof(directory));
    *strrchr(directory, '/') = '\0';
    return mkdirat(AT_FDCWD, directory, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* 0: one of the two. */
static int settle(struct st_netshare *s)
{
    int rc = try_to_keep(s);

    return rc == -EWOULDBLOCK ? wait_for_keeper(s) : rc;
}

static int make_and_settle(struct st_netshare *s)
{
    if (mkfifo(s->path, 0600) < 0 && errno != EEXIST)
        return errno == ENOENT && make_directory(s) == 0 ? -ESTALE : -errno;
    return settle(s);
}

int st_netshare_join(struct st_netshare *s, const char *state_dir, ino_t ns, struct st_error *err)
{
    const char *slash = strrchr(state_dir, '/');
    int parent = slash ? (int)(slash - state_dir) : 0, rc = -ESTALE;

    *s = (struct st_netshare){.fd = -1};
    if ((size_t)snprintf(s->path, sizeof(s->path), "%.*s/" DIRECTORY "/%llu", parent, state_dir,
                         (unsigned long long)ns) >= sizeof(s->path))
        return st_fail(err, ENAMETOOLONG, "%s: too long", state_dir);
    for (int i = 0; i < TRIES && rc == -ESTALE; i++)
        rc = make_and_settle(s);
    return rc < 0 ? st_fail(err, -rc, "%s: %s", s->path, strerror(-rc)) : 0;
}

static void path_of_rules(const struct st_netshare *s, char out[PATH_MAX + 8])
{
    snprintf(out, PATH_MAX + 8, "%s.rules", s->path);
}

int st_netshare_publish(const struct st_netshare *s, const char *rules, struct st_error *err)
{
    char path[PATH_MAX + 8];
    st_auto_fd fd = -1;

    path_of_rules(s, path);
    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || st_write_all(fd, rules, strlen(rules)) < 0)
        return st_fail_errno(err, "%s", path);
    return 0;
}

int st_netshare_rules(const struct st_netshare *s, char out[ST_NETSHARE_RULES], struct st_error *err)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    char path[PATH_MAX + 8];

    path_of_rules(s, path);
    for (int i = 0; i < 200; i++) {
        ssize_t n = st_read_small_at(AT_FDCWD, path, out, ST_NETSHARE_RULES);

        if (n > 0 && out[n - 1] == '.')
            return 0;
        nanosleep(&moment, NULL);
    }
    return st_fail(err, EAGAIN, "who keeps the rules of this network does not say by which; try again");
}

/* It is there as long as somebody reads. */
bool st_netshare_take_over(struct st_netshare *s)
{
    return settle(s) == 0 && s->keeper;
}

bool st_netshare_is_last(const struct st_netshare *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLOUT};

    return s->keeper && s->fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

void st_netshare_leave(struct st_netshare *s)
{
    char rules[PATH_MAX + 8];
    bool last = st_netshare_is_last(s);

    if (last) {
        path_of_rules(s, rules);
        unlink(rules);
    }
    if (last && unlink(s->path) == 0) {
        *strrchr(s->path, '/') = '\0';
        rmdir(s->path); /* unless others are there */
    }
    st_close(&s->fd);
}
