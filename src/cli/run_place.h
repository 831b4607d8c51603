/* run_place: where one run lives: a name that no other has, a directory in state_dir that says so, a file
 * system of its own that only its own mount namespace sees.
 *
 * Whoever holds the lock is alive. All that a run mounts goes with its namespace; what the kernel does not
 * take away by itself (control groups, the directory) the next run removes, where both of a dead one were
 * killed. */
#pragma once

#include "base/error.h"
#include "config/config.h"

#define ST_RUN_ID_SIZE sizeof("run-0123456789ab")

struct st_run_place {
    char id[ST_RUN_ID_SIZE];
    char *dir; /* state_dir/.runs/ID */
    char *fs;  /* a file system of the run's own is mounted there */
    int lock;
};

#define ST_RUN_PLACE_NONE                                                                                    \
    {                                                                                                        \
        .lock = -1                                                                                           \
    }

/* First removes what dead runs left. */
int st_run_place_make(const struct st_config *config, struct st_run_place *out, struct st_error *err);

/* From here on we are in a mount namespace of our own, and the file system is there. */
int st_run_place_enter(const struct st_run_place *place, struct st_error *err);

/* Kills what is left in the run's control groups, removes them and the directory. */
void st_run_place_remove(struct st_run_place *place);
