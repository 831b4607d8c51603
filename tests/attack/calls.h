/* calls: every syscall that changes a file system, in each of its forms, as a table that an attacker tries.
 */
#pragma once

#include <stddef.h>

#define FILE_NAME "file" /* a regular file */
#define EMPTY_NAME "dir" /* an empty directory */
#define NEW_NAME "new"   /* nothing yet */
#define LINK_NAME "link" /* a symbolic link to FILE_NAME */

struct attempt {
    const char *dir;  /* where it is tried */
    const char *path; /* of what the call is about; may be changed by others meanwhile */
    int dirfd;        /* of dir, for the forms that take one */
    int fd;           /* FILE_NAME, open for reading, for the forms that take one */
};

struct call {
    const char *name;
    const char *on; /* which of the names above */
    long (*make)(const struct attempt *a);
};

/* NULL name: the end. */
extern const struct call calls[];
