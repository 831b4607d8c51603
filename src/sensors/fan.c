/* fan: see fan.h. */
#include "sensors/fan.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>

int st_fan_open(struct st_error *err)
{
    /* Without UNLIMITED_QUEUE the kernel allows the 16,385th waiting event unseen. TID, since flags are read
     * from the thread that waits. O_NONBLOCK: opening a FIFO for us must not block. */
    unsigned flags = FAN_CLASS_CONTENT | FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS | FAN_REPORT_TID |
                     FAN_CLOEXEC | FAN_NONBLOCK;
    int fd = fanotify_init(flags, O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NONBLOCK);

    if (fd >= 0)
        return fd;
    if (errno == EMFILE)
        return st_fail(err, EMFILE, "fanotify: no more groups; raise /proc/sys/fs/fanotify/max_user_groups");
    return st_fail_errno(err, "fanotify_init");
}

int st_fan_open_telling(struct st_error *err)
{
    /* With a limit: nobody waits for us here, so that what is too much for us must not pile up. */
    unsigned flags = FAN_CLASS_NOTIF | FAN_UNLIMITED_MARKS | FAN_REPORT_TID | FAN_CLOEXEC | FAN_NONBLOCK;
    int fd = fanotify_init(flags, O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NONBLOCK);

    return fd < 0 ? st_fail_errno(err, "fanotify_init") : fd;
}

uint64_t st_fan_tell_mask(void)
{
    return FAN_OPEN | FAN_OPEN_EXEC | FAN_ONDIR;
}

uint64_t st_fan_decide_mask(void)
{
    return FAN_OPEN_PERM | FAN_OPEN_EXEC_PERM | FAN_CLOSE_WRITE | FAN_ONDIR;
}

uint64_t st_fan_run_mask(void)
{
    return FAN_OPEN_EXEC_PERM | FAN_CLOSE_WRITE;
}

uint64_t st_fan_object_mask(bool directory)
{
    return FAN_OPEN_PERM | (directory ? FAN_ONDIR | FAN_EVENT_ON_CHILD : 0);
}

int st_fan_mark(int fan, enum st_fan_target target, uint64_t mask, int path_fd)
{
    static const unsigned targets[] = {FAN_MARK_FILESYSTEM, FAN_MARK_MOUNT, FAN_MARK_INODE};
    char link[32];

    /* fanotify_mark takes no O_PATH fd, but follows its link. */
    snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
    return fanotify_mark(fan, FAN_MARK_ADD | targets[target], mask, AT_FDCWD, link) < 0 ? -errno : 0;
}

int st_fan_read(int fan, void (*take)(void *ctx, const struct st_fan_event *ev), void *ctx)
{
    char bytes[ST_FAN_BATCH];
    struct fanotify_event_metadata m;
    ssize_t len;
    int n = 0;

    do
        len = read(fan, bytes, sizeof(bytes));
    while (len < 0 && errno == EINTR);
    if (len < 0)
        return errno == EAGAIN ? 0 : -errno;
    for (ssize_t at = 0; at + (ssize_t)sizeof(m) <= len; at += m.event_len) {
        memcpy(&m, bytes + at, sizeof(m));
        if (m.vers != FANOTIFY_METADATA_VERSION || m.event_len < sizeof(m))
            return -EPROTO;
        take(ctx, &(struct st_fan_event){.fd = m.fd,
                                         .tid = m.pid,
                                         .exec = (m.mask & (FAN_OPEN_EXEC_PERM | FAN_OPEN_EXEC)) != 0,
                                         .closed = (m.mask & FAN_CLOSE_WRITE) != 0,
                                         .overflow = (m.mask & FAN_Q_OVERFLOW) != 0,
                                         .more = at + m.event_len < len});
        n++;
    }
    return n;
}

int st_fan_answer(int fan, int *event_fd, bool allow)
{
    struct fanotify_response r = {.fd = *event_fd, .response = allow ? FAN_ALLOW : FAN_DENY};
    int rc = 0;

    while (write(fan, &r, sizeof(r)) < 0) {
        if (errno == EINTR)
            continue;
        rc = -errno;
        break;
    }
    st_close(event_fd);
    return rc;
}

static void refuse_one(void *ctx, const struct st_fan_event *ev)
{
    int fd = ev->fd;

    if (fd >= 0 && ev->closed)
        close(fd);
    else if (fd >= 0)
        st_fan_answer(*(int *)ctx, &fd, false);
}

void st_fan_refuse_all(int fan, int top)
{
    for (int fd = 0; fd <= top; fd++) {
        struct fanotify_response r = {.fd = fd, .response = FAN_DENY};

        /* ENOENT for all numbers that were answered. */
        if (write(fan, &r, sizeof(r)) < 0 && errno != ENOENT)
            break;
    }
    while (st_fan_read(fan, refuse_one, &fan) > 0)
        continue;
}
