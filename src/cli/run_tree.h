/* run_tree: what the container sees as its file system: overlays over the host's programs, a copy of what is
 * open to all in /etc, the folders that are bound, and else empty directories. What is not named here is not
 * there: no home, no /run, no /var of the host.
 *
 * Everything that is made lies in the run's own file system, and goes with it. */
#pragma once

#include "cli/run_place.h"
#include "cli/run_spec.h"
#include "cli/run_who.h"

/* Where the first process lies in the container: among programs, so that policies that list those let it run.
 */
#define ST_RUN_INIT "/usr/libexec/sandtrace/sandtrace-init"

struct st_run_tree {
    char *rootfs;
    struct st_run_mount *mounts; /* for the configuration, in order */
    size_t n_mounts, n_overlays; /* the first of them are overlays, or copies */
    size_t left_out;             /* files of /etc that were too large */
};

/* init: the program on the host. workspace: bound to /workspace, unless args bind something there. */
int st_run_tree_make(const struct st_run_place *place, const struct st_config *config,
                     const struct st_run_args *args, const struct st_run_who *who, const char *init,
                     const char *workspace, struct st_run_tree *out, struct st_error *err);
void st_run_tree_free(struct st_run_tree *t);
#define st_auto_run_tree __attribute__((cleanup(st_run_tree_free))) struct st_run_tree
