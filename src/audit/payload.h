/* payload: the `payload` member of a record, by type of event (formats.md, 2). Private to src/audit. */
#pragma once

#include "model/event.h"

#include <stdbool.h>
#include <stddef.h>

/* No record is longer: what the bus and the control socket carry has this limit too. */
#define ST_RECORD_MAX ((size_t)1 << 20)

/* An event whose bound is above this can't make a record within the limit: every byte of a string takes at
 * least one byte of the record, and at most ST_PUT_WORST and its share of base64. */
#define ST_RECORD_BOUND_MAX (ST_RECORD_MAX * 8)

/* Is the JSON that the event brings along canonical? What is put into a record as it stands must be. */
bool st_payload_fits(const struct st_event *ev);

/* No payload of this event is longer than this. */
size_t st_payload_bound(const struct st_event *ev);

/* Writes it at p, which has room for the bound; returns the end. */
char *st_payload_put(char *p, const struct st_event *ev);
