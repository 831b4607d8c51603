/* pathmatch: which rules have a pattern that matches a path. Private to src/policy.
 *
 * Patterns are merged into one tree of components. A path walks it once, with a set of places instead of one
 * where wildcards leave a choice; a place is never taken twice at the same component, so that the work is
 * bounded by components times places and no pattern can make it explode. What does not match costs
 * nothing: the number of rules does not matter unless they share the path's own components. */
#pragma once

#include "model/event.h"
#include "policy/pattern.h"

#define ACCESS_BITS 6
#define NO_RULE UINT32_MAX

struct pathmatch;

struct pathmatch *st_pathmatch_new(void);
void st_pathmatch_free(struct pathmatch *m);

/* Parts are borrowed and must outlive m. Rules are added in ascending order. */
void st_pathmatch_add(struct pathmatch *m, const struct path_pattern *pattern, uint32_t rule,
                      unsigned access);

/* After the last add, before the first query. */
void st_pathmatch_finish(struct pathmatch *m);

/* path: absolute and in normal form. For each bit of access the first rule that matches with that access, or
 * NO_RULE; other entries are NO_RULE. */
void st_pathmatch_first(const struct pathmatch *m, const char *path, size_t len, unsigned access,
                        uint32_t first[ACCESS_BITS]);

/* All patterns that match, whatever their access; in no order, perhaps more than once. */
typedef void pathmatch_hit(void *ctx, uint32_t rule, unsigned access);
void st_pathmatch_all(const struct pathmatch *m, const char *path, size_t len, pathmatch_hit *hit, void *ctx);
