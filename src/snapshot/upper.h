/* upper: which files of a container are its own: the upper layer of the overlay that its root is, by our own
 * mounts, which are not the container's to change; else its root as it is. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The directory, O_PATH; -1: there is none, and *why says so. *overlay: it is an upper layer. */
int st_upper_open(const char *rootfs, bool *overlay, char *why, size_t size);
