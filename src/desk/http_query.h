/* http_query: the query of an address, taken apart. Hostile bytes: bounded, each name once, valid UTF-8
 * without control characters. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ST_QUERY_MAX 4096 /* bytes as sent */
#define ST_QUERY_PARTS 24

struct st_query {
    char *text; /* decoded */
    struct {
        const char *name, *value;
    } parts[ST_QUERY_PARTS];
    size_t n;
};

/* text: what follows the question mark. */
int st_query_parse(const char *text, size_t len, struct st_query *out, struct st_error *err);
void st_query_free(struct st_query *q);

/* Decodes len bytes in place, and ends them with a NUL, for which there is room. The length; -1: no valid
 * text, or a control character. */
ssize_t st_percent_decode(char *at, size_t len, bool plus_is_space);

/* NULL: not there. */
const char *st_query_get(const struct st_query *q, const char *name);

/* A number from min to max; where there is none, without. -EINVAL: something else. */
int st_query_int(const struct st_query *q, const char *name, int64_t min, int64_t max, int64_t without,
                 int64_t *out, struct st_error *err);

/* Is every name of the query in this list, which ends in NULL? */
int st_query_only(const struct st_query *q, const char *const *known, struct st_error *err);

/* A time in microseconds since 1970: RFC 3339, or -15m before now. */
int st_query_time(const struct st_query *q, const char *name, int64_t now_us, int64_t without, int64_t *out,
                  struct st_error *err);

/* The value of a cookie; its length is 0 where there is none. header may be NULL. */
const char *st_cookie_find(const char *header, const char *name, size_t *len);
