/* run_spec: the config.json of a container of `sandtrace run`. Pure: all that is in it is handed in. */
#pragma once

#include "base/buf.h"
#include "cli/run_args.h"

#include <sys/types.h>

struct st_run_mount {
    char *source, *target;
    bool readonly;
};

struct st_run_spec {
    const char *id, *rootfs;
    const char *policy;      /* NULL: the configuration's */
    const char *depth;       /* NULL: likewise */
    const char *const *args; /* NULL-terminated; so with env */
    const char *const *env;
    uid_t uid;
    gid_t gid;
    mode_t umask;
    bool terminal;
    unsigned short rows, columns; /* of the terminal; 0: not known */
    enum st_run_network network;
    const struct st_run_mount *mounts; /* bound, in this order, after the container's own */
    size_t n_mounts;
};

/* The name of its control group, in each hierarchy; at most 64 bytes. */
#define ST_RUN_CGROUP "sandtrace-"

void st_run_write_spec(const struct st_run_spec *s, struct st_buf *out);
