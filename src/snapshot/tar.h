/* tar: writes an archive (POSIX pax, holes as GNU tar's sparse format 1.0), straight to an fd.
 *
 * Names are bytes that a container chose; they are written as they are, relative, and never looked at. What
 * does not fit into the old header goes into an extended one. */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define ST_TAR_BLOCK 512

struct st_tar {
    int fd;
    int error; /* errno of the first write that failed; nothing is written after it */
    uint64_t bytes;
    uint64_t missing; /* of the present entry: bytes that are to come */
    struct st_buf out;
};

struct st_tar_extent {
    uint64_t at, len;
};

struct st_tar_entry {
    const char *name; /* NUL-terminated, relative */
    const char *link; /* target; NULL: none */
    char type;        /* '0' file, '1' hard link, '2' symlink, '3' '4' devices, '5' directory, '6' fifo */
    const struct stat *st;
    const struct st_buf *extended; /* more records of the extended header, as st_tar_record makes them */
    const struct st_tar_extent *extents; /* data of a sparse file; NULL: all of st_size, for '0' */
    size_t n_extents;
};

/* How many bytes it would take, all in all. */
uint64_t st_tar_cost(const struct st_tar_entry *e);

void st_tar_header(struct st_tar *t, const struct st_tar_entry *e);
/* Content, as much as the header said; more is cut. */
void st_tar_data(struct st_tar *t, const void *bytes, size_t n);
/* Where less came, zeroes; then the rest of the block. Returns how many bytes had not come. */
uint64_t st_tar_end_entry(struct st_tar *t);
/* 0, or -errno of whatever failed. */
int st_tar_finish(struct st_tar *t);

/* "LEN KEY=VALUE\n", where LEN counts itself. */
void st_tar_record(struct st_buf *out, const char *key, const void *value, size_t len);
