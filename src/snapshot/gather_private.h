/* What the files of gather share. */
#pragma once

#include "snapshot/gather.h"

/* A line of the list. st NULL: nothing is known of it; omitted NULL: it is in the archive, or was removed. */
void st_gather_note(struct st_gather *g, const char *path, const struct stat *st, const char *change,
                    const char *omitted);

/* One object that is there: into the archive, and on the list. Directories without what is in them. */
void st_gather_object(struct st_gather *g, int parent, const char *name, const char *path,
                      const struct stat *st, const char *change);

int st_gather_open(int parent, const char *name, int flags);
void st_gather_forget(struct st_gather *g);

/* Is there no time or room for more? */
bool st_gather_over(struct st_gather *g);
