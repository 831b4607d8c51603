/* sink: a second place for each record, besides the trace: a file, standard output, a socket that somebody
 * listens on, syslog, journald, or a program that is run.
 *
 * A sink never holds up the trace: offering takes a copy into a queue of bounded size, or counts a loss. The
 * owner's event loop calls st_sink_work() when the fd of st_sink_poll() is ready or the deadline has come;
 * nothing in here blocks. Losses are told twice: to the reader, as a line {"missed":N} where the kind of sink
 * has lines, and to the owner, who declares them in the trace (st_sink_losses).
 *
 * The process ignores SIGPIPE where it has a sink of stdout.
 *
 * Never call st_sink_work() while an answer is owed to the kernel: syslogd or journald may be who waits for
 * it. */
#pragma once

#include "audit/sinks/queue.h"
#include "base/error.h"

#include <stddef.h>

#define ST_SINK_QUEUE ((size_t)256 << 10)
#define ST_SINK_WHY 200

struct st_sink;

struct st_sink_options {
    /* model/sink_spec.h: file:PATH (appended to, made 0640), stdout, unix:PATH (a listening stream socket),
     * syslog[:PATH], journald[:PATH], exec:PROGRAM (the record on its standard input, one at a time) */
    const char *spec;
    size_t queue_bytes; /* 0: ST_SINK_QUEUE */
    uint32_t types;     /* bits of enum st_event_type that are wanted; 0: all */
    bool refusals;      /* only what was not simply allowed */
};

/* Refuses a spec that can't be meant. Whoever listens need not be there yet. */
int st_sink_open(const struct st_sink_options *o, struct st_sink **out, struct st_error *err);
void st_sink_close(struct st_sink *s); /* tries once more to be rid of the queue, without waiting */

/* A record that is in the trace: its line, with or without the newline. */
void st_sink_offer(struct st_sink *s, const struct st_queued *record);

/* Sends what can be sent without waiting. */
void st_sink_work(struct st_sink *s, int64_t now_ns);

/* What to wait for; -1: nothing (then the deadline counts). */
int st_sink_poll(const struct st_sink *s, short *events);
int64_t st_sink_deadline(const struct st_sink *s); /* monotonic ns; -1: none */

const char *st_sink_name(const struct st_sink *s); /* its spec */

/* Records lost since the last call, and why the last of them was. */
uint64_t st_sink_losses(struct st_sink *s, const char **why);

/* Why nobody could be reached the last time, "" where somebody was. */
const char *st_sink_down(const struct st_sink *s);

/* Nothing waits to be sent. */
bool st_sink_idle(const struct st_sink *s);
