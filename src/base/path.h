/* path: paths as text. Nothing here asks the kernel: who needs symlinks resolved must have done it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ST_PATH_LIMIT 1024

/* Where somebody else may name a path. NULL: absolute, without a `..`, without control characters, and not
 * longer than ST_PATH_LIMIT. Else what would be right. */
const char *st_path_fault(const char *path);

/* Absolute, without empty, `.` or `..` components, without a slash at the end (but for `/` itself). */
bool st_path_is_normal(const char *path, size_t len);

/* The normal form, by the text alone; `..` at the root stays there. Returns its length; 0: not absolute, or
 * does not fit into size (it never grows). */
size_t st_path_normalise(const char *path, size_t len, char *out, size_t size);
