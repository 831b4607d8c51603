/* kept: destinations and names that a person approved for good (`approve --always`), for later runs that go
 * on with the same trace. A file beside the trace, ID.approved: of each approval the record of what was
 * refused, as it stands in the trace.
 *
 * What was approved under one policy is asked about anew under another. Nothing in the file is believed that
 * is not whole: a line cut by a crash grants nothing. */
#pragma once

#include "audit/decode.h"

/* Approvals of other things (files, programs) end with the run. */
bool st_kept_concerns(const struct st_event *ev);

/* line: with its newline. It is on disk afterwards. */
int st_kept_add(const char *trace_path, const char *line, struct st_error *err);

/* All that holds under this policy. -ENOENT: there is none. */
int st_kept_recall(const char *trace_path, const char *policy_sha256,
                   void (*each)(void *ctx, const struct st_decoded *d), void *ctx, struct st_error *err);

/* The trace is a new one: what was approved in another is none of its business. */
void st_kept_forget(const char *trace_path);
