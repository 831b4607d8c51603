/* notify_filter: what is said on the fd of one filter; see notify.h. */
#include "base/cleanup.h"
#include "sensors/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#endif

struct st_filter *st_filter_ref(struct st_filter *f)
{
    f->refs++;
    return f;
}

void st_filter_unref(struct st_filter *f)
{
    if (!f || --f->refs > 0)
        return;
    st_close(&f->fd);
    free(f);
}

static int send_response(const struct st_filter *f, struct seccomp_notif_resp *r)
{
    /* The kernel's struct can only grow at its end, and what is not known there must be zero. */
    _Alignas(8) char room[256] = {0};

    memcpy(room, r, sizeof(*r));
    if (f->fd < 0)
        return -ENOENT;
    return ioctl(f->fd, SECCOMP_IOCTL_NOTIF_SEND, room) < 0 ? -errno : 0;
}

int st_filter_answer(const struct st_filter *f, uint64_t id, int error)
{
    struct seccomp_notif_resp r = {.id = id, .error = -error};

    if (error == 0)
        r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    return send_response(f, &r);
}

int st_filter_return(const struct st_filter *f, uint64_t id, int64_t value)
{
    struct seccomp_notif_resp r = {.id = id, .val = value};

    return send_response(f, &r);
}

int st_filter_give_fd(const struct st_filter *f, uint64_t id, int fd, bool cloexec)
{
    struct seccomp_notif_addfd add = {.id = id,
                                      .flags = SECCOMP_ADDFD_FLAG_SEND,
                                      .srcfd = (uint32_t)fd,
                                      .newfd_flags = cloexec ? O_CLOEXEC : 0};

    if (f->fd < 0)
        return -ENOENT;
    return ioctl(f->fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? -errno : 0;
}

int st_filter_wake_quickly(const struct st_filter *f)
{
    return ioctl(f->fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) < 0 ? -errno : 0;
}

bool st_filter_waits(const struct st_filter *f, uint64_t id)
{
    return f->fd >= 0 && ioctl(f->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}
