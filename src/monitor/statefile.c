/* statefile: see statefile.h. */
#include "monitor/statefile.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

static int lock_within(int fd, int64_t timeout_ns)
{
    int64_t deadline = st_now_mono_ns() + timeout_ns;
    struct timespec ts = {.tv_nsec = 2000000};

    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        if (st_now_mono_ns() > deadline)
            return -EBUSY;
        nanosleep(&ts, NULL);
    }
    return 0;
}

/* The directory may be removed by the monitor of an earlier run between our open and our lock: what was
 * locked then is a file without a name. Try again until name and lock agree. */
static int claim_once(const char *path, int64_t timeout_ns, struct st_statedir *out, struct st_error *err)
{
    st_auto_fd dirfd = -1, fd = -1;
    struct stat locked, named;
    int rc;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return st_fail_errno(err, "make %s", path);
    dirfd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dirfd < 0)
        return errno == ENOENT ? -EAGAIN : st_fail_errno(err, "open %s", path);
    fd = openat(dirfd, "monitor.pid", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == ENOENT ? -EAGAIN : st_fail_errno(err, "open %s/monitor.pid", path);
    rc = lock_within(fd, timeout_ns);
    if (rc == -EBUSY)
        return st_fail(
            err, EBUSY,
            "a container with this ID is being watched already (%s); remove it or choose another ID", path);
    if (rc < 0)
        return st_fail(err, -rc, "lock %s/monitor.pid", path);
    if (fstat(fd, &locked) < 0 || fstatat(AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
        fstatat(dirfd, "monitor.pid", &named, AT_SYMLINK_NOFOLLOW) < 0 || named.st_ino != locked.st_ino)
        return -EAGAIN;
    out->dirfd = st_steal_fd(&dirfd);
    out->lock_fd = st_steal_fd(&fd);
    out->path = st_xstrdup(path);
    return 0;
}

int st_statedir_claim(const char *path, int64_t timeout_ns, struct st_statedir *out, struct st_error *err)
{
    int rc;

    *out = (struct st_statedir)ST_STATEDIR_NONE;
    for (int tries = 0; tries < 100; tries++) {
        rc = claim_once(path, timeout_ns, out, err);
        if (rc != -EAGAIN)
            return rc;
    }
    return st_fail(err, EBUSY, "%s changes too quickly", path);
}

int st_statedir_share(const struct st_statedir *d, int64_t gid, struct st_error *err)
{
    if (gid < 0)
        return 0;
    if (fchown(d->dirfd, 0, (gid_t)gid) < 0 || fchmod(d->dirfd, 02710) < 0)
        return st_fail_errno(err, "open %s to group %lld", d->path, (long long)gid);
    return 0;
}

static void describe(const struct st_state *s, struct st_buf *out)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "agent_id", s->order->agent_id);
    st_jw_kstr(&w, "depth", s->order->depth ? s->order->depth : "strict");
    st_jw_kstr(&w, "floor", s->order->landlock_abi ? "landlock" : s->order->floor ? "mount" : "off");
    st_jw_kstr(&w, "freezer", s->freezer);
    st_jw_kstr(&w, "id", s->order->id);
    st_jw_kint(&w, "pid", s->order->pid);
    st_jw_kstr(&w, "policy", s->order->policy);
    st_jw_kstr(&w, "policy_sha256", s->policy_sha256);
    st_jw_kstr(&w, "status", s->status);
    st_jw_kstr(&w, "trace", s->order->trace_path);
    st_jw_kstr(&w, "trace_id", s->order->trace_id);
    st_jw_kint(&w, "warden", s->warden);
    st_jw_kint(&w, "worker", s->worker);
    st_jw_end(&w, '}');
    st_buf_addc(out, '\n');
}

int st_statedir_write(const struct st_statedir *d, const struct st_state *s, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    mode_t mode = s->order->control_gid >= 0 ? 0640 : 0600;
    char pid[16];

    describe(s, &text);
    if (st_replace_file_at(d->dirfd, "state.json", text.data, text.len, mode, false, err) < 0)
        return st_wrap(err, "%s", d->path);
    snprintf(pid, sizeof(pid), "%d\n", (int)s->warden);
    if (pwrite(d->lock_fd, pid, strlen(pid), 0) < 0)
        return st_fail_errno(err, "write %s/monitor.pid", d->path);
    return 0;
}

void st_statedir_remove(struct st_statedir *d)
{
    static const char *const names[] = {"state.json", "control.sock", "monitor.pid"};

    if (d->dirfd >= 0)
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            unlinkat(d->dirfd, names[i], 0);
    if (d->path)
        rmdir(d->path);
    st_close(&d->lock_fd);
    st_close(&d->dirfd);
    st_free_ptr(&d->path);
}
