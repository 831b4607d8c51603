/* sealed: see sealed.h. */
#include "monitor/sealed.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "monitor/dial.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <time.h>

static int64_t ms_left(int64_t deadline)
{
    return (deadline - st_now_mono_ns()) / 1000000;
}

/* The monitor answers when the trace is sealed, and hangs up when it goes. */
static void await_answer(int dirfd, int64_t deadline)
{
    static const char request[] = "{\"request\":\"stopped\"}\n";
    st_auto_fd fd = st_dial(dirfd);
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (fd < 0 || send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
        return;
    while (ms_left(deadline) > 0 && poll(&p, 1, (int)ms_left(deadline)) < 0 && errno == EINTR)
        continue;
}

/* A monitor that lives holds the lock on monitor.pid, whoever of its processes answers or not. */
static bool monitor_lives(int dirfd)
{
    st_auto_fd fd = openat(dirfd, "monitor.pid", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

#define STATE_MAX ((size_t)64 << 10)

bool st_sealed_is_near(const char *state_dir, const char *id)
{
    st_auto_fd dirfd = st_dial_dir(state_dir, id), process = -1;
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = NULL;
    struct pollfd p = {.events = POLLIN};
    int64_t pid;

    if (dirfd < 0 || st_read_file_at(dirfd, "state.json", false, STATE_MAX, &text, NULL) < 0 ||
        st_json_parse(st_buf_cstr(&text), text.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0 ||
        !st_json_int(st_json_get(st_json_root(doc), "pid"), &pid))
        return false;
    process = pidfd_open((pid_t)pid, 0);
    p.fd = process;
    return process < 0 ? errno == ESRCH : poll(&p, 1, 0) > 0;
}

int st_sealed_wait(const char *state_dir, const char *id, int64_t timeout_ms, struct st_error *err)
{
    int64_t deadline = st_now_mono_ns() + timeout_ms * 1000000;
    struct timespec ts = {.tv_nsec = 1000000};
    st_auto_fd dirfd = st_dial_dir(state_dir, id);

    if (dirfd < 0)
        return errno == ENOENT ? 0 : st_fail_errno(err, "%s/%s", state_dir, id);
    await_answer(dirfd, deadline);
    while (monitor_lives(dirfd)) {
        if (ms_left(deadline) <= 0)
            return st_fail(err, ETIMEDOUT, "the monitor of %s has not sealed its trace yet", id);
        nanosleep(&ts, NULL);
    }
    return 0;
}
