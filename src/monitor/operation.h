/* operation: a use by the container that waits in the kernel for our answer.
 *
 * It has exactly one owner, who answers exactly once; handing it on empties the old place. One that is
 * dropped unanswered is refused by its cleanup: there is no way out of a function that leaves it open or lets
 * it by. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct st_operation;

struct st_event;

typedef void (*st_operation_answerer)(void *ctx, struct st_operation *op, bool allow);
typedef void (*st_operation_teller)(void *ctx, const struct st_operation *op, struct st_event *ev);

struct st_operation {
    st_operation_answerer answerer; /* NULL: nothing waits (after the fact, or answered already) */
    /* The event says of who asks only what it takes to judge and to count it: the rest is to be found out
     * where it is recorded by itself, while it waits. NULL: all is said. */
    st_operation_teller tell_all;
    void *ctx;
    int fd;         /* fanotify: of the event */
    uint64_t token; /* the answerer's own */
};

#define ST_OPERATION_NONE                                                                                    \
    {                                                                                                        \
        .fd = -1                                                                                             \
    }

static inline bool st_operation_waits(const struct st_operation *op)
{
    return op->answerer != 0;
}

static inline void st_operation_answer(struct st_operation *op, bool allow)
{
    st_operation_answerer answerer = op->answerer;

    op->answerer = 0;
    if (answerer)
        answerer(op->ctx, op, allow);
}

static inline void st_operation_tell_all(const struct st_operation *op, struct st_event *ev)
{
    if (op->answerer && op->tell_all)
        op->tell_all(op->ctx, op, ev);
}

static inline struct st_operation st_operation_steal(struct st_operation *op)
{
    struct st_operation out = *op;

    *op = (struct st_operation)ST_OPERATION_NONE;
    return out;
}

static inline void st_operation_drop(struct st_operation *op)
{
    st_operation_answer(op, false);
}

#define st_auto_operation __attribute__((cleanup(st_operation_drop))) struct st_operation
