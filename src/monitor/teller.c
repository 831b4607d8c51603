/* teller: the worker's side. See teller.h. */
#include "monitor/teller.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>

#define QUEUE_BYTES ((size_t)1 << 20)
#define LAST_SECONDS 2

/* ---- start ---- */

static void close_sinks(struct st_sink **sinks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        st_sink_close(sinks[i]);
    free(sinks);
}

static int open_sinks(const struct st_order *o, struct st_sink **sinks, struct st_error *err)
{
    for (size_t i = 0; i < o->n_sinks; i++) {
        const struct st_sink_options options = {
            .spec = o->sinks[i].to, .types = o->sinks[i].types, .refusals = o->sinks[i].refusals};

        if (st_sink_open(&options, &sinks[i], err) < 0)
            return -err->errnum;
    }
    return 0;
}

int st_teller_start(struct st_teller *t, const struct st_order *o, struct st_error *err)
{
    struct st_sink **sinks;
    int pair[2] = {-1, -1}, rc;
    pid_t pid;

    *t = (struct st_teller){.fd = -1};
    if (o->n_sinks == 0)
        return 0;
    sinks = st_xcalloc(o->n_sinks, sizeof(struct st_sink *));
    rc = open_sinks(o, sinks, err);
    if (rc == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        rc = st_fail_errno(err, "socket to the sinks");
    if (rc < 0) {
        close_sinks(sinks, o->n_sinks);
        return rc;
    }
    pid = fork();
    if (pid == 0)
        st_teller_main(sinks, o->n_sinks, pair[1]);
    close(pair[1]);
    close_sinks(sinks, o->n_sinks);
    if (pid < 0) {
        rc = st_fail_errno(err, "start the sinks");
        close(pair[0]);
        return rc;
    }
    t->fd = pair[0];
    st_queue_init(&t->queue, QUEUE_BYTES);
    return 0;
}

/* ---- what it says ---- */

static void hang_up(struct st_teller *t)
{
    st_loop_remove(t->loop, t->fd);
    st_close(&t->fd);
    st_queue_free(&t->queue);
    t->missed = 0;
}

static void on_ready(void *ctx, uint32_t events)
{
    struct st_teller *t = ctx;

    while (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        ssize_t n =
            recv(t->fd, (char *)&t->in + t->in_len, sizeof(t->in) - t->in_len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            break;
        if (n <= 0) {
            hang_up(t);
            t->report(t->ctx, NULL);
            return;
        }
        t->in_len += (size_t)n;
        if (t->in_len < sizeof(t->in))
            continue;
        t->in_len = 0;
        t->in.why[sizeof(t->in.why) - 1] = '\0';
        t->report(t->ctx, &t->in);
    }
    st_teller_flush(t);
}

int st_teller_attach(struct st_teller *t, struct st_loop *loop, struct st_error *err)
{
    int rc;

    t->loop = loop;
    if (t->fd < 0)
        return 0;
    t->watched = EPOLLIN;
    rc = st_loop_add(loop, "sinks", t->fd, t->watched, on_ready, t);
    return rc < 0 ? st_fail(err, -rc, "watch the sinks") : 0;
}

/* ---- what it is told ---- */

void st_teller_tell(struct st_teller *t, const struct st_queued *record)
{
    if (t->fd >= 0 && !st_queue_put(&t->queue, record) && !record->about_sinks)
        t->missed++;
}

/* One piece of the present message. 1: it is out as a whole. */
static int send_piece(struct st_teller *t, const struct st_queued *item, int flags)
{
    struct st_tell_head head = {.len = (uint32_t)item->line.len,
                                .type = (uint8_t)item->type,
                                .result = (uint8_t)item->result,
                                .severity = (uint8_t)item->severity,
                                .about_sinks = item->about_sinks};
    size_t skip = t->done < sizeof(head) ? t->done : sizeof(head), in_line = t->done - skip;
    struct iovec iov[2] = {{(char *)&head + skip, sizeof(head) - skip},
                           {(char *)(uintptr_t)item->line.p + in_line, item->line.len - in_line}};
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
    ssize_t n = sendmsg(t->fd, &m, flags | MSG_NOSIGNAL);

    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    t->done += (size_t)n;
    return t->done == sizeof(head) + item->line.len;
}

/* 0: nothing is left; -EAGAIN: no room; other negative: it is gone. */
static int send_all(struct st_teller *t, int flags)
{
    struct st_queued item;

    while (st_queue_peek(&t->queue, &item)) {
        int rc = send_piece(t, &item, flags);

        if (rc < 0)
            return rc;
        if (rc == 0)
            continue;
        t->done = 0;
        st_queue_drop(&t->queue);
    }
    return 0;
}

void st_teller_flush(struct st_teller *t)
{
    uint32_t wanted;
    int rc;

    if (t->fd < 0)
        return;
    rc = send_all(t, MSG_DONTWAIT);
    wanted = EPOLLIN | (rc == -EAGAIN ? EPOLLOUT : 0);
    if (wanted != t->watched)
        st_loop_change(t->loop, t->fd, wanted);
    t->watched = wanted; /* that it is gone is read from it */
    if (rc == 0 && t->missed) {
        struct st_tell_report r = {.sink = ST_TELL_ALL,
                                   .state = ST_TELL_LOST,
                                   .lost = t->missed,
                                   .why = "the queue to the sinks was full"};

        t->missed = 0;
        t->report(t->ctx, &r);
    }
}

void st_teller_close(struct st_teller *t)
{
    struct timeval patience = {.tv_sec = LAST_SECONDS};

    if (t->fd < 0)
        return;
    st_loop_remove(t->loop, t->fd);
    if (setsockopt(t->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0)
        send_all(t, 0);
    st_close(&t->fd);
    st_queue_free(&t->queue);
}
