/* checkpoint: reading a checkpoint and checking its signature. Private to src/audit. */
#pragma once

#include "audit/frame.h"
#include "audit/sign.h"

struct st_checkpoint {
    bool final;
    bool fits;             /* head and seq are those of the record before it */
    struct st_str key_id;  /* p == NULL: unsigned */
    bool signature_formed; /* the signature is 64 bytes in base64, or null with a null key_id */
    unsigned char signature[ST_SIGNATURE_SIZE];
    size_t cut_from, cut_to; /* the signature member with its comma, in the line */
};

/* false: the frame is no checkpoint, or its payload has not the five members. */
bool st_checkpoint_read(const struct st_frame *f, struct st_checkpoint *out);

/* Does key's signature over the record stand? */
bool st_checkpoint_stands(const struct st_frame *f, const struct st_checkpoint *c,
                          const struct st_public_key *key);
