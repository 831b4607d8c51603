/* operation: a use by the container that waits in the kernel for our answer.
 *
 * It has exactly one owner, who answers exactly once; handing it on empties the old place. One that is
 * dropped unanswered is refused by its cleanup: there is no way out of a function that leaves it open or lets
 * it by. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct st_operation;

typedef void (*st_operation_answerer)(void *ctx, struct st_operation *op, bool allow);

struct st_operation {
    st_operation_answerer answerer; /* NULL: nothing waits (after the fact, or answered already) */
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
