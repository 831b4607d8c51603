/* teller_main: the child that works the sinks. See teller.h. */
#include "monitor/teller.h"

#include "audit/record.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "monitor/home.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define READ_BYTES ((size_t)65536)
#define LINGER_NS INT64_C(10000000000) /* for what waits when the worker is gone */
#define QUIET_NS INT64_C(1000000000)   /* between two reports of losses */

struct told {
    bool down; /* as the worker knows */
    uint64_t lost;
    char why[ST_SINK_WHY];
};

struct tell {
    struct st_sink *const *sinks;
    size_t n;
    int fd; /* -1: the worker is gone */
    struct st_buf in;
    struct told *told;     /* of each sink: what the worker knows, and what it will be told */
    int64_t report_ns;     /* not before */
    int64_t until_ns;      /* when fd is -1 */
    struct pollfd *polled; /* of fd, then of each sink */
};

/* An ordinary process, as the programs that it starts will be. */
static void settle_in(void)
{
    pid_t self = getpid();

    st_write_small_at(AT_FDCWD, "/proc/self/oom_score_adj", "0");
    setpriority(PRIO_PROCESS, 0, 0);
    if (st_home_is_lodger())
        st_home_move_out(&self, 1);
}

/* ---- from the worker ---- */

static void offer(struct tell *t, const struct st_tell_head *head, const char *line)
{
    const struct st_queued record = {.type = head->type,
                                     .result = head->result,
                                     .severity = head->severity,
                                     .about_sinks = head->about_sinks,
                                     .line = {.p = line, .len = head->len}};

    for (size_t i = 0; i < t->n; i++)
        st_sink_offer(t->sinks[i], &record);
}

static void hang_up(struct tell *t)
{
    st_close(&t->fd);
    t->until_ns = st_now_mono_ns() + LINGER_NS;
}

static bool is_right(const struct st_tell_head *head)
{
    return head->len <= ST_RECORD_MAX && head->type < ST_EV_TYPES && head->result <= ST_ANOMALY &&
           head->severity <= ST_SEV_CRITICAL;
}

static void take_messages(struct tell *t)
{
    struct st_tell_head head;
    size_t at = 0;

    while (t->in.len - at >= sizeof(head)) {
        memcpy(&head, t->in.data + at, sizeof(head));
        if (!is_right(&head)) { /* a worker gone wrong */
            hang_up(t);
            return;
        }
        if (t->in.len - at < sizeof(head) + head.len)
            break;
        offer(t, &head, t->in.data + at + sizeof(head));
        at += sizeof(head) + head.len;
    }
    if (at == 0)
        return;
    memmove(t->in.data, t->in.data + at, t->in.len - at);
    t->in.len -= at;
}

static void read_worker(struct tell *t)
{
    ssize_t n;

    st_buf_reserve(&t->in, READ_BYTES);
    n = recv(t->fd, t->in.data + t->in.len, READ_BYTES, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(t);
        return;
    }
    t->in.len += (size_t)n;
    take_messages(t);
}

/* ---- to the worker ---- */

static bool say(struct tell *t, size_t sink, enum st_tell_state state, uint64_t lost, const char *why)
{
    struct st_tell_report r = {.sink = (uint32_t)sink, .state = state, .lost = lost};

    memcpy(r.why, why, strnlen(why, sizeof(r.why) - 1));
    /* A packet of this size is taken whole or not at all by a socket with room. */
    return send(t->fd, &r, sizeof(r), MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(r);
}

static bool is_down(const struct tell *t, size_t i)
{
    return *st_sink_down(t->sinks[i]) != '\0';
}

static void count_losses(struct tell *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *why;
        uint64_t lost = st_sink_losses(t->sinks[i], &why);

        if (!lost)
            continue;
        t->told[i].lost += lost;
        snprintf(t->told[i].why, sizeof(t->told[i].why), "%s", why);
    }
}

static void report_sink(struct tell *t, size_t i)
{
    struct told *told = &t->told[i];
    const char *down = st_sink_down(t->sinks[i]);

    if ((*down != '\0') != told->down && say(t, i, *down ? ST_TELL_DOWN : ST_TELL_UP, 0, down))
        told->down = *down != '\0';
    if (told->lost && say(t, i, ST_TELL_LOST, told->lost, told->why))
        told->lost = 0;
}

static bool anything_to_report(const struct tell *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->told[i].lost || t->told[i].down != is_down(t, i))
            return true;
    return false;
}

/* ---- the loop ---- */

static int64_t earliest(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static int wait_ms(const struct tell *t, int64_t now)
{
    int64_t at = t->fd < 0 ? t->until_ns : anything_to_report(t) ? t->report_ns : -1;

    for (size_t i = 0; i < t->n; i++)
        at = earliest(at, st_sink_deadline(t->sinks[i]));
    if (at < 0)
        return -1;
    return at <= now ? 0 : (int)((at - now) / 1000000 + 1);
}

static bool finished(const struct tell *t, int64_t now)
{
    if (t->fd >= 0)
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (!st_sink_idle(t->sinks[i]) && !is_down(t, i))
            return now >= t->until_ns;
    return true;
}

static void round_once(struct tell *t)
{
    int64_t now = st_now_mono_ns();

    for (size_t i = 0; i < t->n; i++)
        st_sink_work(t->sinks[i], now);
    count_losses(t);
    if (t->fd >= 0 && now >= t->report_ns && anything_to_report(t)) {
        for (size_t i = 0; i < t->n; i++)
            report_sink(t, i);
        t->report_ns = now + QUIET_NS;
    }
    t->polled[0] = (struct pollfd){.fd = t->fd, .events = POLLIN};
    for (size_t i = 0; i < t->n; i++)
        t->polled[i + 1].fd = st_sink_poll(t->sinks[i], &t->polled[i + 1].events);
    poll(t->polled, t->n + 1, wait_ms(t, now));
    if (t->fd >= 0 && t->polled[0].revents)
        read_worker(t);
}

void st_teller_main(struct st_sink *const *sinks, size_t n, int fd)
{
    struct tell t = {.sinks = sinks, .n = n, .fd = 3};

    if (dup3(fd, 3, O_CLOEXEC) < 0 && errno != EINVAL)
        _exit(1);
    if (syscall(SYS_close_range, 4U, ~0U, 0) < 0)
        _exit(1);
    settle_in();
    t.told = st_xcalloc(n, sizeof(*t.told));
    t.polled = st_xcalloc(n + 1, sizeof(*t.polled));
    while (!finished(&t, st_now_mono_ns()))
        round_once(&t);
    for (size_t i = 0; i < n; i++)
        st_sink_close(sinks[i]);
    _exit(0);
}
