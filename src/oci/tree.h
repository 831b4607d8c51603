/* tree: looks and makes directories below a directory that a stranger may have filled: an image, a volume.
 * No symbolic link on the way is ever followed out of it. Private to this folder. */
#pragma once

#include "base/error.h"

#include <limits.h>
#include <sys/types.h>

/* path: absolute as seen from base. 1: is there, without a symbolic link on the way; 0: is not;
 * -ELOOP: some part of it is a symbolic link; other negative: can't be looked at. */
int st_tree_look(const char *base, const char *path);

/* Where path leads to, links and all, as seen from base. 0 or -errno. */
int st_tree_resolve(const char *base, const char *path, char out[PATH_MAX]);

/* Make the directory and its parents (0755, of this owner) where they are missing. -ELOOP as above. */
int st_tree_make(const char *base, const char *path, uid_t uid, gid_t gid, struct st_error *err);
