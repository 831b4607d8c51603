/* link: a place in the chain, and whether a record that was read follows it. Private to src/audit. */
#pragma once

#include "audit/frame.h"
#include "audit/record.h"

/* Is the frame's prev_hash the link's head? (A link without a record is followed by null.) */
bool st_link_followed(const struct st_link *link, const struct st_frame *f);

/* The link of the record itself, as it states it. */
void st_link_take(struct st_link *link, const struct st_frame *f);
