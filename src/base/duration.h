/* duration: `15m`, `5s`, `200ms`, `1h30m`, `0`: how people write a length of time in our files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* For error messages: what a duration looks like. */
#define ST_DURATION_HINT "write a duration such as 5s, 200ms, 15m, 1h30m or 0"

/* Milliseconds. Units are d, h, m, s, ms, each at most once, the larger before the smaller; only 0
 * may stand without a unit. False: not a duration, or one that does not fit (100 years is the limit). */
bool st_duration_parse(const char *text, int64_t *ms);

#define ST_DURATION_SIZE 48
/* As st_duration_parse reads it. ms must not be negative. */
void st_duration_format(int64_t ms, char out[ST_DURATION_SIZE]);
