/* desk_errand: programs that the confined server needs and may not start: it asks the process that watches
 * it, by a word for which, what it is about, and a pipe for what the program says. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <sys/types.h>

/* The server's side: what `sandtrace verify --json` says of a trace. Several threads may ask at once. */
int st_errand_verify(int fd, const char *name, struct st_buf *answer, struct st_error *err);

/* The server's side: `sandtrace review tell`. How that ended is noted beside the task; nobody waits for it.
 */
int st_errand_tell(int fd, const char *review, struct st_error *err);

/* The environment of a program of ours: where to look for programs, and our own settings. Ends in NULL; the
 * list is the caller's, its words are not. */
const char **st_errand_env(void);

struct st_errands {
    int fd; /* of the watcher */
    const char *sandtrace, *config, *log_dir;
    const char *const *envp;
    pid_t parent;
};

/* The watcher's side: fd is readable. Starts what is asked for, if it is for a trace of log_dir or a review.
 */
void st_errand_serve(const struct st_errands *e);
