/* answer: see answer.h. */
#include "monitor/answer.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static const char ok[] = "ok\n";

/* The whole answer: "ok\n", or words that say why not, or nothing where the monitor died. Words end with the
 * connection; after "ok\n" nothing can come that would change it. */
static int read_answer(int fd, int64_t timeout_ms, char *out, size_t size)
{
    int64_t deadline = st_now_mono_ns() + timeout_ms * 1000000;
    size_t len = 0;

    for (;;) {
        int64_t left = (deadline - st_now_mono_ns()) / 1000000;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ssize_t n;

        if (left <= 0 || poll(&p, 1, (int)left) == 0)
            return -ETIMEDOUT;
        n = read(fd, out + len, size - 1 - len);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        len += n > 0 ? (size_t)n : 0;
        if (len == sizeof(ok) - 1 && memcmp(out, ok, len) == 0)
            break;
    }
    out[len] = '\0';
    return 0;
}

static int judge_answer(int rc, const char *answer, struct st_error *err)
{
    if (rc == 0 && strcmp(answer, ok) == 0)
        return 0;
    if (rc == -ETIMEDOUT)
        return st_fail(err, ETIMEDOUT, "the monitor was not ready in time (hook_timeout)");
    if (rc < 0)
        return st_fail(err, -rc, "read the monitor's answer: %s", strerror(-rc));
    if (!answer[0])
        return st_fail(err, ESRCH, "the monitor died before it was ready");
    return st_fail(err, ECHILD, "%s", answer);
}

int st_answer_read(int fd, int64_t timeout_ms, struct st_error *err)
{
    char answer[4096];
    int rc = read_answer(fd, timeout_ms, answer, sizeof(answer));

    return judge_answer(rc, answer, err);
}
