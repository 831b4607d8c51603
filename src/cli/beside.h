/* beside: programs of ours that lie where this one does. */
#pragma once

/* Absolute path of NAME in the directory of the running program; the caller's. NULL: that is not known. */
char *st_beside(const char *name);
