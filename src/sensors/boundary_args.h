/* boundary_args: what a notified syscall of the boundary asks, as canonical JSON. Arguments and memory belong
 * to a stranger: every length is bounded, nothing is believed to stay as it was read. */
#pragma once

#include "base/buf.h"
#include "model/boundary.h"
#include "sensors/request.h"

#define ST_BOUNDARY_TEXT 1024 /* bytes of one text; the rest is cut, and that is said */

/* Appends an object. A null pointer is null; what can't be read is {"unreadable":ADDRESS}; a text that was
 * cut, or is no UTF-8, is {"b64":…,"cut":true,"text":…}, with the members that it needs. */
void st_boundary_decode(const struct st_boundary *row, const struct seccomp_data *call, st_memory_reader read,
                        void *ctx, struct st_buf *out);

/* One more member, whose key comes after all others: what the registers do not say of it. */
void st_boundary_add_text(struct st_buf *args, const char *key, const char *bytes, size_t n);

/* The capability that this use needs; NULL: none, or not clearly one. */
const char *st_boundary_capability(const struct st_boundary *row, const struct seccomp_data *call);

/* Does it cross nothing? uid, gid: of the task, as they were (ST_UNKNOWN: not known). */
bool st_boundary_is_quiet(const struct st_boundary *row, const struct seccomp_data *call, int64_t uid,
                          int64_t gid);
