/* statefile: /run/sandtrace/ID: who watches, whom, and with what. formats.md, 1.
 *
 * monitor.pid is locked by the warden for as long as it lives: whoever wants to know whether a monitor
 * is alive asks for the lock, and does not trust a number. */
#pragma once

#include "base/error.h"
#include "monitor/order.h"

#include <stdint.h>
#include <sys/types.h>

struct st_statedir {
    char *path;
    int dirfd;
    int lock_fd; /* monitor.pid, locked */
};

#define ST_STATEDIR_NONE                                                                                     \
    {                                                                                                        \
        .dirfd = -1, .lock_fd = -1                                                                           \
    }

/* Make the directory (0700) and take the lock, waiting up to timeout_ns for a monitor of an earlier run of
 * the same ID to finish. -EBUSY: another container of this ID is being watched. */
int st_statedir_claim(const char *path, int64_t timeout_ns, struct st_statedir *out, struct st_error *err);

/* The control group may pass through to control.sock and read state.json (setgid, so that what is made here
 * belongs to it without a capability). gid -1: leaves it alone. */
int st_statedir_share(const struct st_statedir *d, int64_t gid, struct st_error *err);

struct st_state {
    const struct st_order *order;
    pid_t warden, worker;
    const char *status; /* "watching", "paused", "unwatched", "stopped" */
    const char *policy_sha256;
    const char *freezer; /* "v1 /path", or NULL */
};

int st_statedir_write(const struct st_statedir *d, const struct st_state *s, struct st_error *err);

/* Remove what is ours and the directory. */
void st_statedir_remove(struct st_statedir *d);
