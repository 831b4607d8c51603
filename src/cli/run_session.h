/* run_session: the time between start and end: bytes, signals, sizes and questions go to and fro until the
 * container's first process has ended and all that it wrote is out. */
#pragma once

#include "cli/run_pause.h"
#include "cli/run_relay.h"
#include "cli/run_runtime.h"

#define ST_RUN_STREAMS 3

struct st_run_session {
    const struct st_run_runtime *runtime;
    const struct st_run_term *term;
    struct st_run_pauses *pauses;
    struct st_relay streams[ST_RUN_STREAMS]; /* the first goes in */
    int master;                              /* of the container's terminal, or -1 */
    int signals;                             /* signalfd */
    pid_t init;
    int64_t kill_at; /* monotonic, ns; 0: never */
    bool ended;
    int status; /* of waitpid */
};

/* A program may be started without the usual three fds; what is opened next must not take their place. */
void st_run_fill_standard_fds(void);

/* Blocks them from now on, for us alone. */
int st_run_signals(void);

/* The exit code of the command. */
int st_run_attend(struct st_run_session *s);
