/* frame: one line of a trace taken apart: its place in the chain, its hash, and where its parts are.
 *
 * Both dialects (formats.md, 3). The current one must be canonical to the byte and have exactly the twelve
 * members. Of the older one only what its hash covers is looked at; where its line was written otherwise than
 * compact, a canonical copy is made first. Values are spans of the line (or of that copy). Hostile bytes. */
#pragma once

#include "audit/scan.h"
#include "base/buf.h"
#include "base/sha256.h"

enum st_dialect { ST_DIALECT_CURRENT, ST_DIALECT_OLDER };

struct st_frame {
    enum st_dialect dialect;
    struct st_str line; /* without its newline */
    uint64_t seq;
    struct st_str prev_hash; /* as it stands, without quotes; p == NULL: null */
    struct st_str record_hash;
    size_t cut_from, cut_to; /* the record_hash member with its comma: what the hash leaves out */
    struct st_scan_value agent_id, event_id, event_type, tier, trace_id, wall_time, payload, verdict;
};

enum st_frame_result {
    ST_FRAME_OK,
    ST_FRAME_BAD_JSON,     /* no JSON, or no record of a trace */
    ST_FRAME_NOT_CANONICAL /* a JSON object, but not written as it was hashed */
};

/* scratch is for the copy; the frame points into it until it is used again. *why says what is wrong. */
enum st_frame_result st_frame_read(struct st_str line, struct st_buf *scratch, struct st_frame *out,
                                   const char **why);

/* What the record's hash should be. */
void st_frame_hash(const struct st_frame *f, unsigned char out[ST_SHA256_SIZE]);

/* The same of two records, faster than one after the other (base/sha256_text.h). */
void st_frame_hash_two(bool instructions, const struct st_frame *a, const struct st_frame *b,
                       unsigned char out[2][ST_SHA256_SIZE]);

/* The rules by which its values are to be walked. */
static inline enum st_scan_rules st_frame_rules(const struct st_frame *f)
{
    return f->dialect == ST_DIALECT_CURRENT ? ST_SCAN_RFC8785 : ST_SCAN_BYTEWISE;
}

/* Does the stated record_hash equal the digest? */
bool st_frame_states(const struct st_frame *f, const unsigned char digest[ST_SHA256_SIZE]);
