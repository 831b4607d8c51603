/* about: commands whose answer names both programs: ours and the real runtime. */
#pragma once

#include "base/error.h"

/* Run the runtime for its version, then say ours. Returns the exit status, or negative. The runtime's lines
 * come first and ours has no word `version` in it: dockerd takes the last line with that word, containerd the
 * first line. */
int st_shim_version(const char *runtime, char *const argv[], struct st_error *err);

/* The runtime's features, with our version among its annotations. */
int st_shim_features(const char *runtime, char *const argv[], struct st_error *err);

/* The runtime's help, which must begin as it does without us, then ours. */
int st_shim_help(const char *runtime, char *const argv[], struct st_error *err);
