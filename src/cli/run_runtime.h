/* run_runtime: what is said to sandtrace-runtime: create, start, kill, delete, for one container. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/run_place.h"

#include <sys/types.h>

struct st_run_runtime {
    char *program;       /* sandtrace-runtime */
    const char *id;      /* of the place; so with fs */
    char *root, *bundle; /* directories in the run's own file system */
    char *pid_file, *console;
    char **env;
};

/* Beside this program. */
int st_run_runtime_find(const struct st_run_place *place, const struct st_cli *cli,
                        struct st_run_runtime *out, struct st_error *err);
void st_run_runtime_free(struct st_run_runtime *r);
#define st_auto_run_runtime __attribute__((cleanup(st_run_runtime_free))) struct st_run_runtime

/* fds: become the container's first three. With a terminal *master is its other end, and they are the
 * runtime's own. What the runtime says on fds[2] is read from said_fd where it fails. */
int st_run_create(const struct st_run_runtime *r, const int fds[3], bool terminal, int said_fd, int *master,
                  pid_t *pid, struct st_error *err);
int st_run_start(const struct st_run_runtime *r, struct st_error *err);
int st_run_kill(const struct st_run_runtime *r, struct st_error *err);

/* Returns when the trace is sealed. */
int st_run_delete(const struct st_run_runtime *r, struct st_error *err);

/* Of what a runtime says, the part for people: what our hook or our shim has said, where it was one of them.
 */
void st_run_reason(const char *said, size_t len, struct st_buf *out);
