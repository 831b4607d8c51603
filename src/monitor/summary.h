/* summary: which files a container made, changed and removed, with their sizes, for the one record at its
 * end.
 *
 * Made of uses that were allowed, so that what the host does on the same file systems is not in it; a size is
 * what the kernel tells when a file that was written is closed. Bounded: what is too many is counted. */
#pragma once

#include "base/buf.h"
#include "model/event.h"

#include <stdbool.h>
#include <stddef.h>

#define ST_SUMMARY_FILES 4096
#define ST_SUMMARY_BYTES ((size_t)256 << 10) /* of the record */

struct st_summary_file;

struct st_summary {
    struct st_summary_file *list; /* no order */
    size_t n;
    uint16_t *chains; /* by hash: index + 1 of the first, 0: none */
    uint16_t free;    /* likewise: places of files that came and went */
    uint64_t omitted; /* uses of files for which there was no room */
};

/* A use of the file system that was allowed. */
void st_summary_use(struct st_summary *s, const struct st_ev_filesystem *fs);

/* The file that a use made is there now: its dev and ino are known. */
void st_summary_identify(struct st_summary *s, const struct st_ev_filesystem *fs);

/* A file that was open for writing has been closed, and has this size. At the end of a container its mounts
 * are gone before its files are: then the path is of no use, and the file is known by dev and ino. */
void st_summary_closed(struct st_summary *s, const struct st_ev_filesystem *fs);

enum st_summary_fate { ST_SUMMARY_CREATED, ST_SUMMARY_MODIFIED, ST_SUMMARY_DELETED };

/* Each file, in no order. */
void st_summary_each(const struct st_summary *s,
                     void (*each)(void *ctx, enum st_summary_fate fate, struct st_str path), void *ctx);

/* The payload, as canonical JSON. */
void st_summary_write(const struct st_summary *s, struct st_buf *out);

void st_summary_free(struct st_summary *s);
