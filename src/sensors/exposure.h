/* exposure: what of the machine a container can reach by its namespaces and mounts, as the kernel has them:
 * looked at once, when its mounts are there and nothing of it runs yet. Names in a configuration prove
 * nothing: a mount is known by its file system and its root in that.
 *
 * Must not be called once the container's mounts are marked. */
#pragma once

#include "base/error.h"
#include "sensors/places.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum st_exposure {
    ST_EXPOSED_US,     /* it can reach files of ours */
    ST_EXPOSED_PIDS,   /* it sees our processes */
    ST_EXPOSED_GROUPS, /* it can write control groups: thaw itself, or leave */
    ST_EXPOSED_ENGINE, /* it can reach who starts things outside */
    ST_EXPOSED_KERNEL, /* it can write what the kernel keeps for the whole machine */
    ST_EXPOSURES
};

struct st_exposure_order {
    pid_t pid;                            /* of the container's first process */
    const char *rootfs;                   /* mounts at and below it are the container's */
    const struct st_mount_tables *mounts; /* its process's, and our own */
    const struct st_places *places;       /* that it must not reach */
    const char *const *closing; /* its mounts that will be read-only when it runs; NULL-terminated */
};

#define ST_EXPOSED_TEXT 300

struct st_exposed {
    char what[ST_EXPOSURES][ST_EXPOSED_TEXT]; /* the first that was found; "": nothing */
    bool closing; /* one that is to be read-only is not yet: to be looked at again by what follows */
};

/* What lies where on the machine that no container may reach: engines, their stores, what of ours it must not
 * even read (secret), or not write (kept; both end with NULL). Needs no container: whoever has time before
 * there is one does this then. */
void st_exposure_gather(const struct st_mounts *host, const char *const *secret, const char *const *kept,
                        struct st_places *out);

int st_exposure_find(const struct st_exposure_order *order, struct st_exposed *out, struct st_error *err);

/* When the runtime has done all, and nothing of the container has run: only what the kernel's file systems
 * and control groups open, which is found without a file of the container's being opened. */
int st_exposure_find_open(pid_t pid, struct st_exposed *out, struct st_error *err);
