/* reach: what a pattern of paths has to do with a place in the tree. Private to src/policy. */
#pragma once

#include "policy/pattern.h"

/* May anything at or below the place match? */
bool st_pattern_reaches(const struct path_pattern *p, const char *place);

/* Does all that could match lie at or below the place? */
bool st_pattern_stays_in(const struct path_pattern *p, const char *place);

/* Does all that lies at or below the place match? */
bool st_pattern_covers(const struct path_pattern *p, const char *place);
