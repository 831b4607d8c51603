/* loop: an epoll loop whose handlers have names, so that a stuck monitor can be read from its status.
 *
 * The epoll fd may be made before a fork and watched by another process: it is readable whenever work
 * waits. Beats and the busy handler are kept in a pulse, which may be shared memory. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ST_LOOP_MAX 64

struct st_pulse {
    _Atomic uint64_t beats;           /* one for each time that handlers were run */
    _Atomic uint32_t busy;            /* 1: between waking and waiting again */
    _Atomic uint32_t handler;         /* index of the one that runs */
    _Atomic uint32_t keep_frozen;     /* a pause wants the container to stand still */
    _Atomic uint32_t top_fd;          /* the highest event fd that the worker ever held unanswered */
    _Atomic uint64_t events, refused; /* recorded in this run; they outlive a worker */
    _Atomic uint64_t unwritten;       /* uses that were let by and are in the worker's memory only */
};

typedef void (*st_loop_handler)(void *ctx, uint32_t events);

struct st_loop_eager {
    int fd;        /* -1: nobody */
    bool may_fail; /* on_eager does not wait where there is nothing: it may be tried without a poll before */
};

struct st_loop {
    int epfd;
    struct st_pulse *pulse;
    bool quit;
    /* Monotonic ns at which on_deadline wants to run, or -1; asked before each wait. */
    int64_t (*deadline)(void *ctx);
    void (*on_deadline)(void *ctx);
    void *deadline_ctx;
    /* Before the handlers of a round: what happened before what woke us; may be NULL. With deadline_ctx. */
    void (*before_round)(void *ctx);
    /* After the handlers of a round, before the next wait; may be NULL. Called with deadline_ctx. */
    void (*after_round)(void *ctx);
    /* An fd behind which somebody stands who asks again as soon as it is answered. It is waited for by poll,
     * beside all others: epoll passes the waker's wish to be woken on this CPU on to nobody. last: whose
     * handler was run last, -1 none. on_eager says whether there was something. Both may be NULL. Called with
     * deadline_ctx. */
    struct st_loop_eager (*eager)(void *ctx, int last);
    bool (*on_eager)(void *ctx, int fd, short events);
    struct st_loop_turn {
        int fd;          /* of whom it is */
        short events;    /* 0: of nobody */
        unsigned in_row; /* since all others had theirs */
        unsigned polls;  /* before it is tried unasked */
        bool unasked;
    } turn;
    int last;
    /* Once after each time of work, when nothing has been due for quiet_ms; may be NULL. Then no timer runs
     * any more but that of a deadline. */
    void (*on_quiet)(void *ctx);
    int quiet_ms;
    /* What comes round for as long as we live, and is no work: monotonic ns at which it is due, or -1. It
     * does not put quiet off. Asked before each wait; both may be NULL. Called with deadline_ctx. */
    int64_t (*upkeep)(void *ctx);
    void (*on_upkeep)(void *ctx);
    struct st_loop_slot {
        const char *name;    /* NULL: free */
        uint32_t generation; /* tells an event of the slot's last owner from one of its present */
        int fd;
        st_loop_handler run;
        void *ctx;
    } slots[ST_LOOP_MAX];
};

void st_loop_init(struct st_loop *l, int epfd, struct st_pulse *pulse);

/* Returns 0 or -errno (-ENOSPC: full). events as for epoll. */
int st_loop_add(struct st_loop *l, const char *name, int fd, uint32_t events, st_loop_handler run, void *ctx);
void st_loop_remove(struct st_loop *l, int fd);

/* What the fd is watched for from now on. */
void st_loop_change(struct st_loop *l, int fd, uint32_t events);

/* Until quit is set. Returns 0 or -errno of epoll_wait. */
int st_loop_run(struct st_loop *l);
