/* json_edit: changes to a JSON text that leave every other byte as it is.
 *
 * Changes are collected against a parsed document and applied once, as splices at the spans of its nodes.
 * They see one another: a member that was set, or an object that was made on the way, is there for the next
 * change. Values are given as JSON text, which is taken as it is. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>

struct st_json_edit;

/* doc must have been parsed from this text; both must outlive the edit. */
struct st_json_edit *st_json_edit_new(const struct st_json_doc *doc, const char *text, size_t len);
void st_json_edit_free(struct st_json_edit *edit);
void st_json_edit_freep(struct st_json_edit **edit);
#define st_auto_json_edit __attribute__((cleanup(st_json_edit_freep))) struct st_json_edit *

/* A path is the names of members from the root, NULL-terminated. Objects on the way that are absent or null
 * are made. What is there and is of another type is an error, with its place. */

/* Set the member at path; nothing changes where it already has this very text. */
int st_json_edit_set(struct st_json_edit *edit, const char *const path[], const char *json,
                     struct st_error *err);

/* Put a value behind the last of the array at path, which is made where it is absent or null. */
int st_json_edit_append(struct st_json_edit *edit, const char *const path[], const char *json,
                        struct st_error *err);

/* Put a value behind the last of an array of the text. */
void st_json_edit_add(struct st_json_edit *edit, const struct st_json_node *array, const char *json);

/* Take away a member or an element, with its comma. Replace a value. The root can't be removed. */
void st_json_edit_remove(struct st_json_edit *edit, const struct st_json_node *node);
void st_json_edit_replace(struct st_json_edit *edit, const struct st_json_node *node, const char *json);

bool st_json_edit_changed(const struct st_json_edit *edit);

/* The text with all changes. Fails where they overlap (a change inside a value that was taken away). */
int st_json_edit_apply(const struct st_json_edit *edit, struct st_buf *out, struct st_error *err);
