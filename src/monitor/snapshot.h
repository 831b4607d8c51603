/* snapshot: what the worker and sandtrace-snapshot say to each other, over a socket that the warden hands on
 * and does not read: fixed structs, each a message of its own (SOCK_SEQPACKET).
 *
 * The worker asks once, and an fd comes along: a file without a name that holds what is too long for a
 * struct, as a row of st_snapshot_piece, each with its two texts behind it. The answers are TAKEN (the
 * container is not needed any more), then KEPT (a folder is there, and it is whole), or FAILED in the place
 * of either. Who hangs up before KEPT is not waited for: nothing is kept. */
#pragma once

#include "base/sha256.h"

#include <limits.h>
#include <stdint.h>

#define ST_SNAPSHOT_VERSION 1
#define ST_SNAPSHOT_PROGRAM "sandtrace-snapshot"
#define ST_SNAPSHOT_TAKE_MS 8000  /* so long may the container be kept from being killed */
#define ST_SNAPSHOT_KEEP_MS 20000 /* and so long more its trace from being sealed */

struct st_snapshot_request {
    uint32_t version;
    uint32_t frozen; /* else it has ended, or can't be frozen */
    char cause[16], severity[16], event_id[32];
    char rule[256], reason[1024];
    char agent_id[256], trace_id[512];
    char policy[256], policy_sha256[ST_SHA256_HEX + 1];
};

enum st_snapshot_kind {
    ST_SNAPSHOT_POLICY = 1, /* name of a file, its text */
    ST_SNAPSHOT_CREATED,    /* path in the container's view */
    ST_SNAPSHOT_MODIFIED,
    ST_SNAPSHOT_DELETED,
    ST_SNAPSHOT_FACTS /* text: of the container, as in the first record of its trace */
};

struct st_snapshot_piece {
    uint32_t kind;
    uint32_t name_len, text_len;
};

enum st_snapshot_state { ST_SNAPSHOT_TAKEN = 1, ST_SNAPSHOT_KEPT, ST_SNAPSHOT_FAILED };

struct st_snapshot_answer {
    uint32_t state;
    uint32_t reserved;
    int64_t processes, files, omitted, tar_bytes;
    char sha256[ST_SHA256_HEX + 1]; /* of snapshot.json; "": none could be taken, see why */
    char review[NAME_MAX + 1];      /* the task's ID */
    char why[512];                  /* FAILED, or what is missing */
};

/* Arguments of the program, in this order; behind them those of the program that is told (`on_review`). */
enum {
    ST_SNAPSHOT_ID = 1,
    ST_SNAPSHOT_PID,
    ST_SNAPSHOT_ROOTFS,
    ST_SNAPSHOT_TRACE,
    ST_SNAPSHOT_DIR,
    ST_SNAPSHOT_BYTES,
    ST_SNAPSHOT_HOOK
};

/* Its fds: 0 to 2 are /dev/null. */
enum { ST_SNAPSHOT_SOCKET = 3, ST_SNAPSHOT_GROUP /* directory of the container's group; may be /dev/null */ };
