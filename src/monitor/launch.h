/* launch: starts sandtrace-monitor, hands it its order, waits until it watches.
 *
 * In two steps, so that the monitor comes up while the hook works out the order. It gets no environment and
 * no fd of ours but the two pipes. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct st_launch {
    int order_fd, answer_fd; /* our ends */
    pid_t pid;
};

#define ST_LAUNCH_NONE                                                                                       \
    {                                                                                                        \
        .order_fd = -1, .answer_fd = -1                                                                      \
    }

#define ST_LAUNCH_LISTENER_FD 6

/* listener_fd: of sensors/notify_socket.h, which the monitor gets as ST_LAUNCH_LISTENER_FD; or -1. */
int st_launch_begin(const char *program, int listener_fd, struct st_launch *l, struct st_error *err);

/* 0 only when the monitor said that marks, rules and the first record are in place. */
int st_launch_order(struct st_launch *l, const struct st_buf *order, int64_t timeout_ms,
                    struct st_error *err);

/* A monitor that waits for the hook on a socket, or ends with the runtime (a pidfd). It gets its order and is
 * left alone. */
int st_launch_standby(const char *program, int socket_fd, int runtime_fd, int listener_fd,
                      struct st_launch *l, struct st_error *err);
void st_launch_leave(struct st_launch *l, const struct st_buf *order);

/* Ends a monitor that has not said so, closes what is open. */
void st_launch_end(struct st_launch *l);
#define st_auto_launch __attribute__((cleanup(st_launch_end))) struct st_launch
