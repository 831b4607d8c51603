/* fan: one fanotify group of permission events: open it, mark with it, read from it, answer.
 *
 * Knows nothing of policy or containers. Every event with a decision to make has an fd that must be answered
 * exactly once; closing the group answers what is left with ALLOW, so that the group is held by the warden
 * too, which refuses instead. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ST_FAN_BATCH 8192

/* -EPERM: no CAP_SYS_ADMIN; -EMFILE: fanotify's max_user_groups is used up. */
int st_fan_open(struct st_error *err); /* the group's fd */

/* One that only tells: nobody waits, the fds of its events are to be closed. */
int st_fan_open_telling(struct st_error *err);

enum st_fan_target { ST_FAN_SUPERBLOCK, ST_FAN_MOUNT, ST_FAN_INODE };

/* path_fd may be O_PATH. -EINVAL: this file system has no permission events (procfs). */
int st_fan_mark(int fan, enum st_fan_target target, uint64_t mask, int path_fd);

/* Everything that is decided before it happens: opens and executions, of directories too. And, told
 * afterwards, the end of writing. */
uint64_t st_fan_decide_mask(void);
/* Of these, executions, and the end of writing. */
uint64_t st_fan_run_mask(void);
/* That something was opened, told afterwards. */
uint64_t st_fan_tell_mask(void);
/* For one object: that it is opened; of a directory also what lies in it, now or later. */
uint64_t st_fan_object_mask(bool directory);

struct st_fan_event {
    int fd;      /* of the object, without access checks and without events of its own; -1: overflow */
    pid_t tid;   /* thread that waits */
    bool exec;   /* opened to be executed */
    bool closed; /* was open for writing and is closed: nobody waits, the fd is to be closed */
    bool overflow;
    bool more; /* of the same read: others wait behind it, whom nobody can see in the queue any more */
};

/* One read: calls take for each event; what take does not answer it owns. Returns the number of events, 0
 * where none waits, or -errno. */
int st_fan_read(int fan, void (*take)(void *ctx, const struct st_fan_event *ev), void *ctx);

/* Answers and closes *event_fd. 0 or -errno (-ENOENT: the opener is gone). */
int st_fan_answer(int fan, int *event_fd, bool allow);

/* For the warden, when its worker is gone: refuse what the worker had read and not answered (a response names
 * the fd number that the reader got; they are at most top), and what nobody has read yet. */
void st_fan_refuse_all(int fan, int top);
