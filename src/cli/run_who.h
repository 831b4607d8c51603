/* run_who: as whom the command runs: who called sudo, else the caller, else who was named. */
#pragma once

#include "base/error.h"
#include "cli/run_args.h"

#include <sys/types.h>

struct st_run_who {
    uid_t uid;
    gid_t gid;
    char *name; /* never NULL; digits where it has none */
    char *home; /* on the host; NULL: none is known */
};

int st_run_who_find(const char *named, struct st_run_who *out, struct st_error *err);
void st_run_who_free(struct st_run_who *w);
#define st_auto_run_who __attribute__((cleanup(st_run_who_free))) struct st_run_who

/* The command's environment: of the caller's only what says how to show things, and what was asked for.
 * NULL-terminated; the list and its strings are the caller's. */
char **st_run_environment(const struct st_run_args *args, const struct st_run_who *who, struct st_error *err);
void st_run_environment_free(char ***env);

#define ST_RUN_HOME "/tmp/home"
