/* footings: what can happen to the files of each of a container's mounts, by whom. Pure: two mount tables
 * in, a list out. What is not known counts as what others may change. */
#pragma once

#include "base/mountinfo.h"
#include "model/footing.h"

#include <stddef.h>

struct st_footings_order {
    const char *rootfs; /* the container's root, as its table has it: "/" once it runs */
    /* What the runtime makes read-only later than the table was read: */
    bool root_readonly;
    const char *const *readonly; /* mount points, as the container sees them */
    size_t n_readonly;
};

struct st_footings {
    struct st_footing *list; /* in the order of the table */
    size_t n;
    char *points; /* all of them, behind one another */
};

void st_footings_find(const struct st_mounts *container, const struct st_mounts *host,
                      const struct st_footings_order *order, struct st_footings *out);
void st_footings_free(struct st_footings *f);
#define st_auto_footings __attribute__((cleanup(st_footings_free))) struct st_footings
