/* mutation: the syscalls that change a file system, and where their arguments are. One row a syscall: the
 * shim asks the kernel to tell us of each, the sensor reads its arguments by the same row.
 *
 * Pure data. A syscall that this architecture, or the headers of the build, do not have is not in the table.
 */
#pragma once

#include "model/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum st_mutation_kind {
    ST_MUT_OPEN,   /* for writing, or creating */
    ST_MUT_CREATE, /* directory, node, symbolic link */
    ST_MUT_BIND,   /* socket: the name is in an address */
    ST_MUT_DELETE,
    ST_MUT_RENAME,
    ST_MUT_LINK,
    ST_MUT_MODIFY, /* size */
    ST_MUT_ATTRIB  /* mode, owner, times, extended attributes */
};

enum st_mutation_flags {
    ST_MUT_NO_FLAGS,
    ST_MUT_OPEN_FLAGS,   /* O_* */
    ST_MUT_AT_FLAGS,     /* AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH */
    ST_MUT_LINK_FLAGS,   /* AT_SYMLINK_FOLLOW, AT_EMPTY_PATH */
    ST_MUT_RENAME_FLAGS, /* RENAME_* */
    ST_MUT_UNLINK_FLAGS  /* AT_REMOVEDIR */
};

#define ST_ARG_NONE (-1)

/* Which arguments name an object. dir NONE: a path begins at the present directory. path NONE: dir is an fd
 * of the object itself. Both NONE: there is no such object. */
struct st_mutation_object {
    int8_t dir, path;
};

struct st_mutation {
    const char *name;
    int nr;
    enum st_mutation_kind kind;
    struct st_mutation_object object, target; /* target: the new name of a rename or link */
    int8_t flags;
    enum st_mutation_flags flag_kind;
    bool follow;    /* a symbolic link in the last place is followed, unless a flag says otherwise */
    bool null_path; /* a null pointer for a path means the object that dir is open on */
};

/* NULL: none of these. */
const struct st_mutation *st_mutation_by_nr(int nr);
const struct st_mutation *st_mutation_at(size_t index); /* NULL: beyond the last */

/* O_* bits of which each one alone makes an open one that may change something. 0: beyond the last. */
unsigned st_open_change_at(size_t index);
