/* clock: wall time for people, monotonic time for durations, and identifiers that sort by time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_RFC3339_SIZE sizeof("2026-01-01T00:00:00.000000Z")
#define ST_ULID_SIZE 27

int64_t st_now_wall_us(void); /* since 1970, UTC */
int64_t st_now_mono_ns(void);

/* RFC 3339, UTC, microseconds, 'Z'. Never calls into the time zone code of libc. */
void st_format_rfc3339(int64_t wall_us, char out[ST_RFC3339_SIZE]);

/* Any time of RFC 3339, with a fraction or without, in any zone. */
bool st_parse_rfc3339(const char *text, size_t len, int64_t *wall_us);

/* A ULID (26 characters, Crockford's alphabet): 48 bits of milliseconds, 80 random bits. */
void st_ulid(int64_t wall_us, char out[ST_ULID_SIZE]);
