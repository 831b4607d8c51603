/* find: where the files of a policy lie. Private to src/policy. */
#pragma once

#include "base/buf.h"
#include "policy/policy.h"

#include <sys/types.h>

struct stat;

/* One file of the chain of `extends`, the extending ones behind it. */
struct layer {
    const struct layer *above;
    const char *path; /* as diagnostics call it */
    dev_t dev;
    ino_t ino;
    bool by_path; /* not found by its name: what it extends may lie beside it */
    unsigned depth;
};

bool st_same_file(const struct layer *layer, const struct stat *sb);

/* First NAME.yaml in the directories that is not `skip`; NULL: there is none. */
char *st_find_policy(const struct st_policy_source *source, const char *name, const struct layer *skip);

/* What a file extends: beside it, where it was given as a path (*beside); then in the directories. */
char *st_find_base(const struct st_policy_source *source, const struct layer *layer, const char *name,
                   bool *beside);

/* There is none: the one whose name is near, or where it was looked for, or may be put (extended). */
void st_suggest_policy(const struct st_policy_source *source, const char *name, bool extended,
                       struct st_buf *out);
