/* landlock_words: what is said to the helper that stands before a container's command where its floor is
 * Landlock (shim/landlock_helper.c), which has no library: constants only. */
#pragma once

#define ST_LANDLOCK_NAME "sandtrace-landlock" /* the word behind its program */
#define ST_LANDLOCK_TREE '+'                  /* before a path: it and all beneath may be changed */
#define ST_LANDLOCK_FILES '='                 /* what is there may be written, nothing made or removed */
#define ST_LANDLOCK_END "--"                  /* before the command */

#define ST_LANDLOCK_ABI 3 /* the first that keeps files from being truncated */
