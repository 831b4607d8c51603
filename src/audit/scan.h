/* scan: a strict reader of canonical JSON: validates and finds what is asked for in one pass, without a tree.
 *
 * What it accepts is exactly RFC 8785 within our number range: no white space, keys in ascending order and
 * none twice, the shortest escapes, valid UTF-8, integers of at most 53 bits. Everything else is refused: the
 * caller who wants to know whether it is JSON at all asks st_json_parse(). Bounded by the text's length;
 * depth at most ST_SCAN_DEPTH. */
#pragma once

#include "model/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_SCAN_DEPTH 64

/* The two orders of keys, and of what is a number, that our dialects have. */
enum st_scan_rules {
    ST_SCAN_RFC8785, /* keys by UTF-16 code units; integers of 53 bits */
    ST_SCAN_BYTEWISE /* keys by bytes; any JSON number */
};

/* Is all of text one canonical value? */
bool st_scan_canonical(const char *text, size_t len, enum st_scan_rules rules);

/* ---- walking: one value after the other; p is NULL after anything that is not canonical ---- */

struct st_scanner {
    const char *p, *end;
    enum st_scan_rules rules;
};

enum st_scan_type {
    ST_SCAN_NULL,
    ST_SCAN_TRUE,
    ST_SCAN_FALSE,
    ST_SCAN_NUMBER,
    ST_SCAN_STRING,
    ST_SCAN_ARRAY,
    ST_SCAN_OBJECT,
    ST_SCAN_BAD
};

struct st_scan_value {
    enum st_scan_type type;
    struct st_str text; /* as written; of a string what is between its quotes */
    bool plain;         /* a string without escapes and beyond-ASCII bytes: its text is its value */
};

/* Takes the next value whole. (Filled in place: structs of this size by value cost more than the scan.) */
void st_scan_value(struct st_scanner *s, struct st_scan_value *out);

/* Members of an object that st_scan_value() has accepted; in any order of calls with st_scan_value(). */
struct st_scan_members {
    struct st_scanner inner;
    struct st_scan_value key, value;
};

/* Begins on a value; false from _next where it is none or at its end. An array's items have no key. */
void st_scan_members(struct st_scan_members *m, struct st_scan_value container, enum st_scan_rules rules);
bool st_scan_next(struct st_scan_members *m);

/* The value of an object's member; type ST_SCAN_BAD: it has none such. */
struct st_scan_value st_scan_get(struct st_scan_value object, const char *key, enum st_scan_rules rules);

bool st_scan_is(struct st_scan_value v, const char *plain_text);
bool st_scan_int(struct st_scan_value v, int64_t *out);

/* A string's value into out, which has room for text.len bytes; returns the length. */
size_t st_scan_unescape(struct st_scan_value v, char *out);
