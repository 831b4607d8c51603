/* notify: seccomp notifications: the socket to which a runtime sends the fd of each filter that it loads, the
 * fds that came, and what is asked on them.
 *
 * Knows nothing of policy. A filter's fd lives as long as a task with this filter; each `exec` of the engine
 * brings another. Who waits in the kernel waits until it is answered, is killed, or is interrupted: by a
 * signal, or by the freezer. Then the same call is made again and asks again, with another id.
 *
 * When the last holder of a filter's fd is gone the kernel refuses (ENOSYS): nobody else holds one. */
#pragma once

#include "base/error.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One filter: made by the runtime for the container's first process or for one that was exec'ed into it. */
struct st_filter {
    unsigned refs;
    int fd;     /* -1: no task is left in it */
    pid_t pid;  /* of its first process */
    bool setup; /* which is still the runtime's program, or a copy of it, about to become the container's */
    dev_t dev;  /* that program */
    ino_t ino;
};

struct st_filter *st_filter_ref(struct st_filter *f);
void st_filter_unref(struct st_filter *f);

/* Is this task the runtime, on its way into the container? The end of that is noted: it never comes back. */
bool st_filter_sets_up(struct st_filter *f, pid_t leader);
/* The same of a thread, where the runtime has named its process: a quick answer, since a runtime asks a lot.
 */
bool st_filter_sets_up_by(struct st_filter *f, pid_t tid);

/* 0: let it go on; else an errno that the call returns. 0 or -errno (-ENOENT: nobody waits with this id). */
int st_filter_answer(const struct st_filter *f, uint64_t id, int error);
/* The call has been made on its behalf, and returns this. */
int st_filter_return(const struct st_filter *f, uint64_t id, int64_t value);
/* It returns a copy of this fd. */
int st_filter_give_fd(const struct st_filter *f, uint64_t id, int fd, bool cloexec);
/* An answer wakes who asked on the processor of who answers. -EINVAL: not before 6.6, where nothing is lost.
 */
int st_filter_wake_quickly(const struct st_filter *f);
/* Does it still wait? What was read of its memory or of its /proc was its own only if it does. */
bool st_filter_waits(const struct st_filter *f, uint64_t id);

struct st_notify;

/* false: no more for now. What is not taken waits in the kernel, at no cost of ours. */
typedef bool (*st_notify_taker)(void *ctx, struct st_filter *f, const struct seccomp_notif *asked);

/* At the socket of this path, which goes in the end. listener: of notify_socket.h, taken over; -1: it is
 * bound now. *n is the caller's. */
int st_notify_open(const char *path, int listener, st_notify_taker take, void *ctx, struct st_notify **n,
                   struct st_error *err);
void st_notify_close(struct st_notify *n); /* refuses all that waits */

/* Whose filter will come, while the runtime waits for its hook: it may have ended when the filter is taken
 * in. */
void st_notify_expect(struct st_notify *n, pid_t init);

/* Take in the filters that were handed over up to now, and nothing that is asked on them. To be done before
 * any program of the container's is let run: a runtime hands a filter over before its process becomes such a
 * program, and only until then it can be seen that it still is the runtime. */
void st_notify_meet(struct st_notify *n);

/* Readable while there is work. */
int st_notify_fd(const struct st_notify *n);

/* Take what came, at most some of it: who floods waits its turn. */
void st_notify_work(struct st_notify *n);

/* The filter whose task asked last and may ask again at once: its fd, for poll; -1: none. What poll said of
 * it is to be handed over before anything else is called: at most one question is taken. */
int st_notify_eager(const struct st_notify *n);
void st_notify_work_eager(struct st_notify *n, short events);
