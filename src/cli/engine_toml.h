/* engine_toml: a few lines of ours in a TOML file of somebody else, between two lines by which they are known
 * again. Private to the engines. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/toml.h"

#include <stdbool.h>

/* All that is looked at, of one text. */
struct st_toml_view {
    const char *text;
    size_t len;
    struct st_toml *doc;
};

int st_toml_view_open(const char *text, size_t len, struct st_toml_view *v, struct st_error *err);
void st_toml_view_close(struct st_toml_view *v);
#define st_auto_toml_view __attribute__((cleanup(st_toml_view_close))) struct st_toml_view

/* Is what lies at this offset between our two lines? Then [*start, *end) is all of it, with both lines. */
bool st_toml_ours(const struct st_toml_view *v, size_t at, size_t *start, size_t *end);

/* The text with the lines, between ours: behind offset at. apart: with an empty line before them. */
void st_toml_put(const struct st_toml_view *v, size_t at, bool apart, const char *lines, struct st_buf *out);

/* The text with [start, end) left out, and the empty line before it. */
void st_toml_take(const struct st_toml_view *v, size_t start, size_t end, struct st_buf *out);
