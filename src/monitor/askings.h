/* askings: questions of seccomp notifications that are held, or whose answer found nobody waiting.
 *
 * A held task that is frozen, or gets a signal, leaves the kernel's queue and makes the same call again when
 * it runs on: the same thread, the same call, the same arguments. The decision, made meanwhile or still to
 * come, is kept for that, and is good only for the same use: memory behind a pointer may hold another path by
 * then. Bounded: what was decided and is never asked again makes room, oldest first. */
#pragma once

#include "model/event.h"
#include "sensors/notify.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_ASKINGS_MAX 1024

enum st_asking_state {
    ST_ASKING_WAITS,   /* for a person */
    ST_ASKING_ALLOWED, /* approved, not carried out yet */
    ST_ASKING_BUSY,    /* somebody carries it out */
    ST_ASKING_DONE     /* refused, or carried out: error is the answer */
};

struct st_asking {
    struct st_asking *next;
    enum st_asking_state state;
    struct st_filter *filter;
    uint64_t id;
    pid_t tid;
    uint64_t born; /* start time of the thread: a number may be used again */
    struct seccomp_data call;
    int error;    /* of a refusal, or of what was done; 0: it was done */
    bool kept;    /* in the list */
    bool cloexec; /* of an open */
    enum st_fs_op op;
    char *path, *target; /* what it is about, of a syscall its arguments; NULL: not known */
    size_t path_len, target_len;
};

struct st_askings {
    struct st_asking *first;
    size_t n;
};

struct st_asking *st_asking_new(struct st_filter *f, const struct seccomp_notif *asked);
void st_asking_free(struct st_asking *a);

/* What it is about, copied. */
void st_asking_describe(struct st_asking *a, const struct st_event *ev);
bool st_asking_is_about(const struct st_asking *a, const struct st_event *ev);

/* Keep it for the next time that it is asked; nothing where it is kept already. */
void st_askings_keep(struct st_askings *all, struct st_asking *a);
void st_askings_forget(struct st_askings *all, struct st_asking *a); /* and free it */
bool st_askings_full(const struct st_askings *all);                  /* of what waits */
void st_askings_clear(struct st_askings *all);

/* The next one of the same thread and call, after `after` (NULL: the first). */
struct st_asking *st_askings_find(const struct st_askings *all, const struct seccomp_notif *asked,
                                  const struct st_asking *after);
