/* parts: the files of a trace into a folder: as second names of the same files where that can be, so that
 * what is written to the end is there too; else as copies. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* trace: path of the file that is being written; dir: where to. Called again it brings what is new or another
 * by then. *copied: there are copies, which lack what came later. */
int st_parts_keep(const char *trace, int dir, bool *copied, struct st_error *err);
