/* listener: a reader of the event bus: a socket in bus.d to which every monitor of the host connects, running
 * or yet to start. docs/control.md.
 *
 * Owns the socket and its name, which goes with it. Only monitors (root) are listened to. */
#pragma once

#include "base/error.h"
#include "model/str.h"

#include <stdint.h>
#include <sys/types.h>

struct st_listener;

/* One monitor that is connected. */
struct st_speaker {
    int fd;
    pid_t pid; /* of the monitor's worker, by the kernel's word */
    void *ctx; /* the caller's own */
};

struct st_listener_calls {
    void (*joined)(void *ctx, struct st_speaker *s);
    /* A line without its newline: a record, or a gap that is told. */
    void (*line)(void *ctx, struct st_speaker *s, struct st_str line);
    void (*left)(void *ctx, struct st_speaker *s);
    /* Nothing more is to be read for now. Not 0: stop. */
    int (*idle)(void *ctx);
};

/* gid: the control group, or -1. */
int st_listener_open(const char *state_dir, int64_t gid, struct st_listener **out, struct st_error *err);

/* Until stop_fd is readable, or idle says so. */
int st_listener_run(struct st_listener *l, int stop_fd, const struct st_listener_calls *calls, void *ctx,
                    struct st_error *err);
/* Takes the socket's name away, so that nobody else comes: for who ends with the process, while
 * st_listener_run is at it in another thread. */
void st_listener_hide(const struct st_listener *l);
void st_listener_close(struct st_listener *l);
void st_listener_closep(struct st_listener **l);
#define st_auto_listener __attribute__((cleanup(st_listener_closep))) struct st_listener *
