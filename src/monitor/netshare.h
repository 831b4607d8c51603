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

#define ST_NETSHARE_RULES 128

/* By whose rules is judged, for those who join: the keeper says it before it judges. */
int st_netshare_publish(const struct st_netshare *s, const char *rules, struct st_error *err);

/* What the keeper has said; waits for it a little. */
int st_netshare_rules(const struct st_netshare *s, char out[ST_NETSHARE_RULES], struct st_error *err);

/* The keeper has gone: is it us now? false: somebody else was quicker, and is waited for. */
bool st_netshare_take_over(struct st_netshare *s);

/* Nobody else is there: the rules are to be taken away. */
bool st_netshare_is_last(const struct st_netshare *s);

/* When all is closed that another keeper needs. */
void st_netshare_leave(struct st_netshare *s);
