/* json: the only file that knows which JSON library is used (yajl).
 *
 * A document is a tree of nodes over the caller's text, which must outlive it. Every node knows the
 * span of bytes that it was read from, so that an editor can splice and leave all else bit for bit.
 * Refused, with line and column: duplicate keys, invalid UTF-8, comments, anything after the value,
 * more depth or nodes than the limits. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum st_json_type {
    ST_JSON_NULL,
    ST_JSON_BOOL,
    ST_JSON_NUMBER,
    ST_JSON_STRING,
    ST_JSON_ARRAY,
    ST_JSON_OBJECT
};

struct st_json_limits {
    unsigned max_depth;
    size_t max_nodes;
};

#define ST_JSON_DEFAULT_LIMITS (&(const struct st_json_limits){.max_depth = 64, .max_nodes = 1u << 20})

struct st_json_doc;
struct st_json_node;

int st_json_parse(const char *text, size_t len, const struct st_json_limits *limits, struct st_json_doc **out,
                  struct st_error *err);
void st_json_free(struct st_json_doc *doc);
void st_json_freep(struct st_json_doc **doc);
#define st_auto_json __attribute__((cleanup(st_json_freep))) struct st_json_doc *

const struct st_json_node *st_json_root(const struct st_json_doc *doc);

/* All of these take NULL for the node and answer as for something that is not there. */
enum st_json_type st_json_type(const struct st_json_node *node);
bool st_json_is(const struct st_json_node *node, enum st_json_type type);
const struct st_json_node *st_json_get(const struct st_json_node *object, const char *key);
const struct st_json_node *st_json_first(const struct st_json_node *container);
const struct st_json_node *st_json_next(const struct st_json_node *node);
size_t st_json_count(const struct st_json_node *container);

/* Key of an object's member. May hold NULs: use the length. */
const char *st_json_key(const struct st_json_node *member, size_t *len);

/* Decoded string, NUL-terminated, or NULL where the node is no string. len may be NULL: then a
 * string with an embedded NUL is treated as absent, so that it can't pose as a shorter one. */
const char *st_json_str(const struct st_json_node *node, size_t *len);

/* Number as written. */
const char *st_json_number(const struct st_json_node *node, size_t *len);
bool st_json_int(const struct st_json_node *node, int64_t *out); /* false: not an integer that fits */
bool st_json_true(const struct st_json_node *node);

/* Bytes [start, end) of the text that hold this value. */
void st_json_span(const struct st_json_node *node, size_t *start, size_t *end);

/* Where the whole entry begins: the key of a member, else the value itself. */
size_t st_json_outer_start(const struct st_json_node *node);

/* The object or array that it stands in; NULL for the root. */
const struct st_json_node *st_json_parent(const struct st_json_node *node);

/* Line and column (from 1) of a byte offset in text. */
void st_json_place(const char *text, size_t offset, unsigned *line, unsigned *column);

#define st_json_each(item, container)                                                                        \
    for (const struct st_json_node *item = st_json_first(container); item; item = st_json_next(item))
