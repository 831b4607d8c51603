/* pipeline: two processors for one trace: who reads and checks it goes on while the database writes.
 *
 * Events are gathered in chunks, in their order. A thread writes a chunk while the next ones are filled; it
 * is begun by the first chunk that is full, so that a few events, as they come from a container that runs,
 * are written by who read them. There are few chunks: who is quicker waits. Between st_pipeline_drain() and
 * the next st_pipeline_add() the database is the caller's alone: that is when it commits. */
#pragma once

#include "audit/frame.h"
#include "desk/rows.h"

struct st_pipeline;

/* rows: borrowed. */
struct st_pipeline *st_pipeline_new(struct st_rows *rows);
void st_pipeline_free(struct st_pipeline *p);
void st_pipeline_freep(struct st_pipeline **p);

/* One event. Fails also with what an earlier one failed with. */
int st_pipeline_add(struct st_pipeline *p, int64_t trace, bool broken, const struct st_frame *f,
                    struct st_error *err);

/* All that was added is in the open batch of rows. */
int st_pipeline_drain(struct st_pipeline *p, struct st_error *err);

/* The thread is gone, and what was not written is forgotten, like a failure. */
void st_pipeline_rest(struct st_pipeline *p);
