/* folder: where a task is made: a directory that begins with a dot, locked for as long as it is being made,
 * and renamed when it is whole. What somebody left behind who was killed is taken away by the next. */
#pragma once

#include "base/error.h"

#include <limits.h>
#include <stddef.h>

struct st_folder {
    int root; /* quarantine_dir */
    int dir;
    char name[NAME_MAX + 1];
};

#define ST_FOLDER_NONE                                                                                       \
    {                                                                                                        \
        .root = -1, .dir = -1                                                                                \
    }

/* quarantine_dir is made where it is missing (0700), and refused where others than root could write it. */
int st_folder_begin(struct st_folder *f, const char *dir, struct st_error *err);

/* A new file in it, for writing, 0600. */
int st_folder_create(const struct st_folder *f, const char *name, struct st_error *err);
int st_folder_write(const struct st_folder *f, const char *name, const void *bytes, size_t n,
                    struct st_error *err);

/* All on disk, then there under the name id, or with .2, .3 … behind it; name becomes that. */
int st_folder_publish(struct st_folder *f, const char *id, struct st_error *err);

/* Takes it away unless it was published. */
void st_folder_end(struct st_folder *f);
