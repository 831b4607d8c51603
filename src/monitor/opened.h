/* opened: opens that the monitor knows of from elsewhere than the event at hand.
 *
 * Judged: a notification was let go on, and fanotify will ask about the same open: it need not be judged
 * again. Handed in: a file was opened on the container's behalf; its fd is of a mount that nobody else sees,
 * and what is done by that fd is known by the object alone. Both are bounded; what is forgotten is judged
 * (again). */
#pragma once

#include "model/event.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ST_JUDGED 256
#define ST_HANDED 256

struct st_opened {
    struct st_judged {
        pid_t tid; /* 0: none */
        unsigned access;
        uint64_t path; /* hash */
        bool settled;  /* and answered: all that may come is that it is told */
    } judged[ST_JUDGED];
    struct st_handed {
        uint64_t dev, ino;
        char *path; /* NULL: none */
        size_t len;
    } handed[ST_HANDED];
    unsigned n_handed;
};

/* It is let go on; what is refused or waits is not known here. */
void st_opened_judge(struct st_opened *o, pid_t tid, const struct st_event *ev);
/* fanotify has asked about it, and is answered: it is no permission for another open. */
void st_opened_settle(struct st_opened *o, pid_t tid, const struct st_event *ev);

/* Was this very open let go on a moment ago? What was known of this thread is used up by the question. */
bool st_opened_judged(struct st_opened *o, pid_t tid, struct st_str path, unsigned access);

/* The same of an open that is told afterwards, when it is not known what for. */
bool st_opened_known(struct st_opened *o, pid_t tid, struct st_str path);

void st_opened_hand_in(struct st_opened *o, int fd, const char *path, size_t len);

/* The path of an object that was handed in; p NULL: it was not. */
struct st_str st_opened_path(const struct st_opened *o, uint64_t dev, uint64_t ino);
void st_opened_free(struct st_opened *o);
