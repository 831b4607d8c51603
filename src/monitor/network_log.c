/* network_log: what the rules tell of without a question: frames that did not leave, and connections by name
 * that have begun. See network.h. */
#include "monitor/network_private.h"
#include "sensors/netfilter/nflog.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

#define AT_ONCE 64 /* frames, before others get their turn */

int st_network_bind_logs(struct st_network *n, struct st_error *err)
{
    const int fds[] = {n->frames_fd, n->begun_fd};
    const uint16_t groups[] = {ST_NFLOG_GROUP, ST_NFLOG_BEGUN};

    /* Where another monitor still has one, this is tried again. */
    for (; !n->by_group && n->logged < 2; n->logged++)
        if (st_nflog_bind(fds[n->logged], groups[n->logged], err) < 0)
            return -err->errnum;
    return 0;
}

/* next: the number that it should have. */
static void count(struct st_network *n, const struct st_nflog_frame *frame, uint32_t *next, const char *what)
{
    char lost[128];

    if (frame->seq > *next) {
        snprintf(lost, sizeof(lost), "%u %s", frame->seq - *next, what);
        st_network_say(n, "degraded", lost);
    }
    *next = frame->seq + 1;
}

/* ---- frames of packet sockets ---- */

static void on_frame(void *ctx, const struct st_nflog_frame *frame)
{
    struct st_network *n = ctx;
    struct st_packet packet;
    struct st_flow_tuple tuple = {0};
    struct st_operation none = ST_OPERATION_NONE;
    struct st_event ev;

    count(n, frame, &n->frames, "frames of packet sockets did not leave and are not recorded");
    if (st_packet_read(frame->bytes, frame->len, &packet))
        tuple = st_flow_tuple_of(&packet);
    ev = st_network_event(n, ST_EV_NETWORK_EGRESS, &tuple);
    ev.net.blocked = true;
    ev.process = (struct st_process){.present = true,
                                     .incomplete = true,
                                     .uid = frame->uid < 0 ? ST_UNKNOWN : frame->uid,
                                     .gid = ST_UNKNOWN};
    st_pipeline_refuse(n->pipeline, &ev, &none, "a frame of a packet socket, which no rule has seen");
}

void st_network_on_frames(void *ctx, uint32_t events)
{
    struct st_network *n = ctx;

    (void)events;
    st_nflog_read(n->frames_fd, AT_ONCE, on_frame, n);
}

/* ---- connections by name ---- */

static void on_begun(void *ctx, const struct st_nflog_frame *frame)
{
    struct st_network *n = ctx;
    struct st_arrival a = {.seen_ns = st_now_mono_ns()};

    n->in_use = true;
    count(n, frame, &n->begun, "connections by name have begun and are not recorded: they are refused");
    if (!st_packet_read(frame->bytes, frame->len, &a.packet)) {
        n->unread++;
        return;
    }
    a.now_ms = a.seen_ns / 1000000;
    a.tuple = st_flow_tuple_of(&a.packet);
    st_network_begin_by_name(n, &a);
}

void st_network_hear_begun(struct st_network *n)
{
    int got;

    if (!n->lets_begin)
        return;
    do
        got = st_nflog_read(n->begun_fd, AT_ONCE, on_begun, n);
    while (got >= AT_ONCE || got == -ENOBUFS);
}
