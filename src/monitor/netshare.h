/* netshare: several containers may share one network namespace (a pod, --network container:X), and one
 * monitor keeps its rules: for each namespace there is a FIFO whose writer is the keeper, and whose readers
 * are those who would take over. A reader hears of the keeper's end, however it came, by the end of the file.
 */
#pragma once

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct st_netshare {
    char path[PATH_MAX];
    int fd; /* -1: none */
    bool keeper;
};

/* state_dir: the container's own; the FIFO lies beside it. Who comes first keeps the rules. */
int st_netshare_join(struct st_netshare *s, const char *state_dir, ino_t ns, struct st_error *err);

/* The keeper has gone: is it us now? false: somebody else was quicker, and is waited for. */
bool st_netshare_take_over(struct st_netshare *s);

/* True: nobody else is there, and the rules are to be taken away. */
bool st_netshare_leave(struct st_netshare *s);
