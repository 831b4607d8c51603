/* made: files that the container was let make a moment ago, until it is known which they are.
 *
 * Nothing is asked when such a file is opened where only some objects are asked about; but what is told when
 * it is closed names it by its inode alone, once the container's mounts are gone. So it is looked for, by
 * name, at the next opportunity. A directory is held open for no longer than that: it could be in somebody's
 * way. */
#pragma once

#include "model/event.h"
#include "monitor/summary.h"
#include "sensors/resolve.h"

#include <stdint.h>

#define ST_MADE 32

struct st_made {
    struct st_made_file {
        int parent;
        char *name, *path;
        size_t path_len;
    } list[ST_MADE];
    size_t n;
    int64_t since_ns; /* monotonic, of the first */
};

/* It is going to be made, in r's directory, which is taken out of r. */
void st_made_expect(struct st_made *m, struct st_summary *s, struct st_resolved *r);

/* Look for them, and tell the summary which they are. */
void st_made_find(struct st_made *m, struct st_summary *s);

/* When to do so at the latest; -1: there are none. */
int64_t st_made_deadline(const struct st_made *m);
