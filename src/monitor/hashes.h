/* hashes: SHA-256 of files that are executed, read by an fd that raises no events; what was read once and has
 * not changed is remembered.
 *
 * Changed is what the kernel says: size, mtime and ctime, which nobody in the container can set back. A file
 * that is mapped for writing can change without that: who decides by a hash asks for it anew (fresh). */
#pragma once

#include "base/sha256.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define ST_HASHES 256
#define ST_HASH_RECORD_MAX ((uint64_t)16 << 20) /* larger files are recorded without */
#define ST_HASH_DECIDE_MAX                                                                                   \
    ((uint64_t)256 << 20) /* and no decision is made by the hash of still larger ones */

struct st_hashes {
    struct st_hashed {
        uint64_t dev, ino, size;
        int64_t mtime_ns, ctime_ns;
        char hex[ST_SHA256_HEX + 1]; /* "": none */
    } known[ST_HASHES];
    uint64_t read; /* files that were */
};

/* fresh: what is remembered does not count. False: too large, no regular file, or not readable. */
bool st_hashes_of(struct st_hashes *h, int fd, const struct statx *sx, uint64_t most, bool fresh,
                  char out[ST_SHA256_HEX + 1]);

/* Is the file open for writing by anybody? Where this can't be found out, no. */
bool st_is_being_written(int fd);
