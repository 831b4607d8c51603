/* record: one event as one line of the trace: canonical JSON with its place in the chain (formats.md, 2, 3).
 *
 * record_hash = "sha256:" + hex(SHA-256(C || P)): C the line without its record_hash member, P the prev_hash
 * as it stands in it, empty for the first record. A checkpoint is signed over ST_CHECKPOINT_DOMAIN and its
 * own C without the payload's `signature` (which holds head, seq and final): nothing of it can be changed,
 * not even its time, and a checkpoint in the middle can't be made the last.
 *
 * No allocation, no system call but for the random bits of a new millisecond's event ids. */
#pragma once

#include "audit/payload.h"
#include "audit/sign.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "model/event.h"

#define ST_EVENT_ID_SIZE (sizeof("evt_") - 1 + ST_ULID_SIZE)
#define ST_HASH_SIZE (sizeof("sha256:") + ST_SHA256_HEX) /* "sha256:…" and NUL */
#define ST_ID_MAX 512                                    /* bytes of an agent or trace id */
#define ST_CHECKPOINT_DOMAIN "sandtrace-checkpoint-1\n"

/* Where in the chain a record goes, and what came of it. */
struct st_link {
    uint64_t seq;            /* of the record that was written last; 0: none yet */
    char head[ST_HASH_SIZE]; /* its record_hash; "" for none */
};

struct st_recorder;

int st_recorder_new(const char *agent_id, const char *trace_id, struct st_recorder **out,
                    struct st_error *err);
void st_recorder_free(struct st_recorder *r);

/* No line of this event is longer than this, its newline included. */
size_t st_record_bound(const struct st_recorder *r, const struct st_event *ev, const struct st_verdict *v);

/* Writes the line with its newline at out (room for the bound), moves link on, fills event_id. Returns the
 * length. v NULL: nothing was decided (allow, none). */
size_t st_record_put(struct st_recorder *r, char *out, const struct st_event *ev, const struct st_verdict *v,
                     struct st_link *link, char event_id[ST_EVENT_ID_SIZE]);

/* The same for a checkpoint over link; signer NULL: unsigned. Never longer than ST_CHECKPOINT_BOUND. */
#define ST_CHECKPOINT_BOUND ((size_t)16384)
size_t st_record_put_checkpoint(struct st_recorder *r, char *out, int64_t wall_us, bool final,
                                const struct st_signer *signer, struct st_link *link,
                                char event_id[ST_EVENT_ID_SIZE]);
