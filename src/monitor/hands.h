/* hands: errands on their way (errand.h): the worker sends them, the warden's performers answer, each on a
 * socket of its own. Nothing here waits: a performer may itself need our answer (its open is seen by
 * fanotify).
 */
#pragma once

#include "base/error.h"
#include "monitor/errand.h"

#include <stdbool.h>

#define ST_HANDS 32 /* errands at the same time */

/* error: errno of the call, 0: done. fd: what was opened, else -1; it is the taker's. */
typedef void (*st_hands_taker)(void *ctx, void *what, int error, int fd);

struct st_hands {
    int socket, epfd;
    st_hands_taker take;
    void *ctx;
    struct st_hand {
        int reply; /* -1: free */
        void *what;
    } list[ST_HANDS];
};

/* socket: to the warden; stays the caller's. */
int st_hands_open(struct st_hands *h, int socket, st_hands_taker take, void *ctx, struct st_error *err);

/* fds: without the reply, which is made here. 0 or -errno; take is called once for each that was sent. */
int st_hands_send(struct st_hands *h, const struct st_errand *e, int fds[ST_ERRAND_FDS], void *what);

/* Readable when there is an answer. */
void st_hands_work(struct st_hands *h);
