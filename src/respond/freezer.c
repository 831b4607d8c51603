/* freezer: see freezer.h. */
#include "respond/freezer.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int put(int fd, const char *word)
{
    size_t len = strlen(word);

    for (;;) {
        ssize_t n = pwrite(fd, word, len, 0);

        if (n == (ssize_t)len)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        return n < 0 ? -errno : -EIO;
    }
}

int st_freezer_ask(const struct st_cgroup *cg)
{
    return put(cg->control_fd, cg->kind == ST_CGROUP_V1 ? "FROZEN" : "1");
}

int st_freezer_thaw(const struct st_cgroup *cg)
{
    return put(cg->control_fd, cg->kind == ST_CGROUP_V1 ? "THAWED" : "0");
}

static bool reads(int fd, const char *word)
{
    char text[256];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

    if (n < 0)
        return false;
    text[n] = '\0';
    return strstr(text, word) != NULL;
}

bool st_freezer_is_frozen(const struct st_cgroup *cg)
{
    /* v1 says FREEZING until the last task stands still. */
    if (cg->kind == ST_CGROUP_V1)
        return reads(cg->control_fd, "FROZEN");
    return reads(cg->events_fd, "frozen 1");
}

int st_freezer_confirm(const struct st_cgroup *cg, int asking_fd, int64_t timeout_ns)
{
    int64_t deadline = st_now_mono_ns() + timeout_ns;
    long pause_ns = 5000;

    while (!st_freezer_is_frozen(cg)) {
        int64_t left = deadline - st_now_mono_ns();

        if (left <= 0)
            return -ETIMEDOUT;
        if (cg->kind == ST_CGROUP_V2) {
            struct pollfd p[] = {{.fd = cg->events_fd, .events = POLLPRI},
                                 {.fd = asking_fd, .events = POLLIN}};

            if (poll(p, 2, (int)(left / 1000000) + 1) > 0 && p[1].revents & POLLIN)
                return -EAGAIN;
        } else {
            struct timespec ts = {.tv_nsec = pause_ns};

            nanosleep(&ts, NULL);
            if (pause_ns < 1000000)
                pause_ns *= 2;
        }
    }
    return 0;
}
