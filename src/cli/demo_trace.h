/* demo_trace: what the trace of a demonstration says: is a record there, and what does `sandtrace verify`
 * answer to it, or to a forgery of it? */
#pragma once

#include "cli/demo_place.h"

/* The first behind *after that is as claimed; then *after is its seq. False: there is none (yet). */
bool st_demo_find(const char *trace, const struct st_demo_record *wanted, uint64_t *after, bool color,
                  struct st_demo_seen *out);
void st_demo_seen_free(struct st_demo_seen *s);
#define st_auto_demo_seen __attribute__((cleanup(st_demo_seen_free))) struct st_demo_seen

/* A copy in which the forgery has been done; one of nothing: a true copy. */
int st_demo_forge(const char *trace, const char *copy, const struct st_demo_forgery *f, struct st_error *err);

/* Runs it as a person would who is in the place; its exit code, negative: it could not be run. */
int st_demo_verify(const struct st_demo_place *p, const char *name, bool json, struct st_buf *said,
                   struct st_error *err);
