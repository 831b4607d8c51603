/* manifest: snapshot.json: what the snapshot is, and the hash of each of its files. The trace has the hash of
 * this one, so that all of it is bound to the chain. */
#pragma once

#include "base/error.h"
#include "base/sha256.h"
#include "snapshot/collect.h"
#include "snapshot/folder.h"

struct st_manifest {
    const char *container, *trace_id, *event_id, *taken_at, *kind, *rootfs, *failure;
    bool frozen;
    int64_t took_ms;
    uint64_t max_bytes;
    const struct st_collected *found;
};

/* Hashes what is there, forces it to disk, writes the file. */
int st_manifest_write(const struct st_folder *f, const struct st_manifest *m, char sha256[ST_SHA256_HEX + 1],
                      struct st_error *err);
