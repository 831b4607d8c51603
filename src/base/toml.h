/* toml: what a TOML text names, and where: enough to see whether something can be added to it, and to put it
 * there without touching another byte.
 *
 * Every table header and every key is an item with its whole path and its span of bytes; values are checked
 * and skipped. Refused, with line and column: what is not TOML, a table or key that is there twice, more
 * depth or items than the limits. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define ST_TOML_DEPTH 32   /* components of a path, and values within values */
#define ST_TOML_ITEMS 8192 /* headers and keys */

enum st_toml_kind {
    ST_TOML_TABLE,       /* [a.b] */
    ST_TOML_ARRAY_TABLE, /* [[a.b]] */
    ST_TOML_VALUE,       /* a.b = 1, also within { } */
    ST_TOML_INLINE       /* a.b = { … }: closed, nothing can be added to it */
};

struct st_toml_item {
    enum st_toml_kind kind;
    const char *path; /* components one after the other, each with a NUL behind it */
    size_t path_len;
    size_t start, end;             /* of the header, or from key to value */
    size_t value_start, value_end; /* of keys */
    bool repeated;                 /* stands in an element of an array of tables */
};

struct st_toml;

int st_toml_parse(const char *text, size_t len, struct st_toml **out, struct st_error *err);
void st_toml_free(struct st_toml *t);
void st_toml_freep(struct st_toml **t);
#define st_auto_toml __attribute__((cleanup(st_toml_freep))) struct st_toml *

size_t st_toml_items(const struct st_toml *t, const struct st_toml_item **items);

/* The first item of exactly this path (NULL-terminated list of names), or NULL. */
const struct st_toml_item *st_toml_find(const struct st_toml *t, const char *const path[]);

/* The first item whose path is this one or goes on from it. */
const struct st_toml_item *st_toml_find_below(const struct st_toml *t, const char *const path[]);

/* The value as a string; NULL: it is none, or of several lines. The caller's. */
char *st_toml_string(const char *text, const struct st_toml_item *item);
