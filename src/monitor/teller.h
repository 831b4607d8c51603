/* teller: passes records on to the sinks of the configuration, in a process of its own.
 *
 * The worker may neither start programs nor wait for anybody, so that sinks are worked by a child, forked
 * before the worker has opened anything: it holds no key, no trace, no event fd, reads nothing but fixed
 * headers and lines that it does not look into, and can hold up nobody. None is started where there are no
 * sinks. What it loses, or can't reach, it says, and the worker declares it in the trace; that it is gone
 * itself as well. It ends when the worker does, after a last try to be rid of what waits. */
#pragma once

#include "audit/sinks/queue.h"
#include "audit/sinks/sink.h"
#include "base/error.h"
#include "monitor/loop.h"
#include "monitor/order.h"

#include <stdint.h>

/* What the teller says of a sink. */
enum st_tell_state { ST_TELL_LOST = 1, ST_TELL_DOWN, ST_TELL_UP };

#define ST_TELL_ALL UINT32_MAX /* instead of one sink */

struct st_tell_report {
    uint32_t sink; /* its place in the order */
    uint32_t state;
    uint64_t lost;
    char why[ST_SINK_WHY];
};

/* In front of each line. */
struct st_tell_head {
    uint32_t len;
    uint8_t type, result, severity, about_sinks;
};

struct st_teller {
    int fd; /* -1: none */
    struct st_loop *loop;
    uint32_t watched;
    struct st_queue queue;
    size_t done;     /* bytes of the present message that are out */
    uint64_t missed; /* found no room, not told yet */
    struct st_tell_report in;
    size_t in_len;
    /* Declares it. r NULL: the teller is gone. The record must be marked about_sinks. */
    void (*report)(void *ctx, const struct st_tell_report *r);
    void *ctx;
};

/* Checks the sinks and starts the child. -EINVAL: a sink that can't be meant. */
int st_teller_start(struct st_teller *t, const struct st_order *o, struct st_error *err);
int st_teller_attach(struct st_teller *t, struct st_loop *loop, struct st_error *err);

/* A record that is in the trace. Never waits; what does not fit is counted, and told by the next flush. */
void st_teller_tell(struct st_teller *t, const struct st_queued *record);
void st_teller_flush(struct st_teller *t);

/* The last records, for which it may take some seconds, and hang up. */
void st_teller_close(struct st_teller *t);

/* In the child: until the other side is gone, and a little longer. */
_Noreturn void st_teller_main(struct st_sink *const *sinks, size_t n, int fd);
