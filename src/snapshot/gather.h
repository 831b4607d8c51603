/* gather: changed files into an archive, and what is said of each into a list (changes.jsonl).
 *
 * Names, links and contents are a container's. One component is opened at a time, below an fd, and never
 * through a symbolic link; nothing but directories and regular files is opened at all. Bounded in bytes,
 * entries, depth and time: what is left out is listed with the reason, as long as there is room for that, and
 * counted. Two ways: a whole tree (the upper layer of an overlay), or paths that somebody listed. */
#pragma once

#include "snapshot/tar.h"

#include <stdbool.h>
#include <stdint.h>

#define ST_GATHER_ENTRIES 250000
#define ST_GATHER_DEPTH 200
#define ST_GATHER_LIST_BYTES ((size_t)64 << 20)

struct st_gather_inode;

struct st_gather {
    struct st_tar *tar;
    int list_fd;
    uint64_t max_bytes;  /* of the archive */
    int64_t deadline_ns; /* monotonic */
    bool overlay;        /* a device 0:0 is a deletion */
    uint64_t entries, files, deleted, omitted;
    bool late; /* time was up */
    /* inside */
    struct st_buf list;
    size_t listed;
    struct st_gather_inode *inodes; /* with more than one name */
    size_t n_inodes;
};

/* All below root, which stays the caller's. */
void st_gather_tree(struct st_gather *g, int root);

/* One path (absolute, in the container's view) below root; what: "created", "modified", "deleted". */
void st_gather_path(struct st_gather *g, int root, const char *path, const char *what);

/* Ends the list. 0 or -errno. */
int st_gather_finish(struct st_gather *g);
