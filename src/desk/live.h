/* live: what the review desk asks of containers that run, and of programs that it does not run itself. Filled
 * in by who starts the desk, which knows monitors; the desk does not. Called from several threads. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

struct st_live {
    void *ctx;
    /* The IDs of watched containers, in order, each followed by a NUL; *n of them. */
    int (*list)(void *ctx, struct st_buf *ids, size_t *n, struct st_error *err);
    /* One line to the monitor of a container, one line back, whatever it says. -ENOENT: there is none. */
    int (*ask)(void *ctx, const char *id, const struct st_buf *request, struct st_buf *answer,
               struct st_error *err);
    /* state.json of a container, as its monitor left it. -ENOENT: there is none. */
    int (*state)(void *ctx, const char *id, struct st_buf *json, struct st_error *err);
    /* What `sandtrace verify --json` says of a trace, by the name of its file. */
    int (*verify)(void *ctx, const char *name, struct st_buf *answer, struct st_error *err);
    /* Has the program of `on_review` told of a task, after the answer; nobody waits for it. */
    void (*tell_review)(void *ctx, const char *id);
};
