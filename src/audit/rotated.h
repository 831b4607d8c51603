/* rotated: the numbered files of a trace that was rotated: NAME.1 (the oldest), NAME.2 … and NAME, which is
 * being written. Somebody may have compressed some: NAME.1.gz, NAME.1.zst. */
#pragma once

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

/* The highest N of which there is a file, compressed or not; 0: none. */
int st_rotated_last(int dirfd, const char *name, unsigned *last, struct st_error *err);

/* NAME.N */
int st_rotated_name(const char *name, unsigned n, char out[NAME_MAX + 1], struct st_error *err);

/* The file of number N as it is there, the plain one before a compressed one. false: none. */
bool st_rotated_find(int dirfd, const char *name, unsigned n, char out[NAME_MAX + 1]);
