/* http_find: which events a person asked for, and where the next page begins. */
#pragma once

#include "desk/db.h"
#include "desk/http_query.h"

#define ST_FIND_WORDS 16

/* Every filter, for st_query_only(). */
#define ST_FIND_NAMES                                                                                        \
    "analysis_id", "container", "severity", "kind", "verdict", "blocked", "since", "until", "q"

struct st_find_list {
    struct st_str words[ST_FIND_WORDS];
    size_t n; /* 0: any */
};

struct st_event_at {
    int64_t ts, id;
};

/* Borrows the query that it was read from. */
struct st_find {
    const char *analysis_id, *container, *text; /* NULL: any */
    struct st_find_list severity, kind, verdict;
    int blocked;          /* -1: any */
    int64_t since, until; /* microseconds; until is not in it */
    bool after;           /* only those older than cursor */
    struct st_event_at cursor;
    size_t limit;
};

/* -EINVAL: says what is wrong with a filter. limit is left to the caller. */
int st_find_parse(const struct st_query *q, int64_t now_us, struct st_find *out, struct st_error *err);

struct st_found {
    struct st_event_at *list;
    size_t n;
};

void st_found_free(struct st_found *f);
#define st_auto_found __attribute__((cleanup(st_found_free))) struct st_found

/* Newest first, at most limit. */
int st_find_run(struct st_db *db, const struct st_find *f, struct st_found *out, struct st_error *err);

#define ST_CURSOR_SIZE 33
void st_cursor_write(const struct st_event_at *at, char out[ST_CURSOR_SIZE]);
bool st_cursor_read(const char *text, struct st_event_at *out);
