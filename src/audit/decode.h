/* decode: a record that was read back as the event and verdict that it was made from, for whoever wants to
 * look at it again: stream, report, a policy asked anew, a replay. Hostile bytes: what does not fit is
 * refused.
 *
 * Strings lie in the decoder until its next use; where a record has the exact bytes beside the text
 * (path_b64), those are given. A type of event that is not known, or a payload without a struct of its own,
 * comes as JSON. */
#pragma once

#include "audit/frame.h"
#include "base/error.h"
#include "model/event.h"

struct st_decoded {
    enum st_dialect dialect;
    struct st_event ev;
    bool known_type; /* false: ev.type is none of ours; ev.json is the payload */
    bool known_tier; /* false: the older dialect's own tiers; ev.tier says derived */
    struct st_verdict verdict;
    bool has_verdict; /* the older dialect may have none */
    uint64_t seq;
    struct st_str event_id, type_name, tier_name, agent_id, trace_id;
};

struct st_decoder;

struct st_decoder *st_decoder_new(void);
void st_decoder_free(struct st_decoder *d);
void st_decoder_freep(struct st_decoder **d);
#define st_auto_decoder __attribute__((cleanup(st_decoder_freep))) struct st_decoder *

/* err says which member is wrong. */
int st_decode(struct st_decoder *d, const struct st_frame *f, struct st_decoded *out, struct st_error *err);
