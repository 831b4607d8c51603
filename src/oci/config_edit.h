/* config_edit: a bundle's config.json, loaded once, changed by modifiers, flushed once.
 *
 *     load → any number of modifiers → flush
 *
 * Every byte that no modifier meant survives. The file is replaced atomically, with its mode and owner, and
 * only where something changed. Refused, with nothing written: a file that is no regular file (a symbolic
 * link too), is larger than ST_OCI_CONFIG_MAX, is not JSON, or that two runtimes would read differently. */
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "base/json_edit.h"

#include <stddef.h>
#include <stdint.h>

#define ST_OCI_CONFIG_MAX ((size_t)16 << 20)

struct st_oci_config;

/* bundle: a directory, NULL or "" for the present one. file: NULL for the bundle's config.json, else what
 * crun's --config names (a path of its own, relative to the present directory). */
int st_oci_config_load(const char *bundle, const char *file, struct st_oci_config **out,
                       struct st_error *err);

/* From a text that stays the caller's and must outlive it; such a config can't be flushed. */
int st_oci_config_parse(const char *text, size_t len, struct st_oci_config **out, struct st_error *err);
void st_oci_config_free(struct st_oci_config *config);
void st_oci_config_freep(struct st_oci_config **config);
#define st_auto_oci_config __attribute__((cleanup(st_oci_config_freep))) struct st_oci_config *

/* What was loaded, before any change (or as it was settled last). */
const struct st_json_node *st_oci_config_root(const struct st_oci_config *config);
const char *st_oci_config_text(const struct st_oci_config *config, size_t *len);

/* Is the capability ("CAP_…") in any of the sets that the container's processes begin with? */
bool st_oci_grants(const struct st_oci_config *config, const char *capability);

/* Does the container get a namespace of this type that is made for it? */
bool st_oci_makes_namespace(const struct st_oci_config *config, const char *type);

/* For modifiers: the changes, and the file's name put before an error. */
struct st_json_edit *st_oci_config_edit(struct st_oci_config *config);
int st_oci_config_wrap(const struct st_oci_config *config, struct st_error *err);

/* Make the changes so far the text that later modifiers read. */
int st_oci_config_settle(struct st_oci_config *config, struct st_error *err);

/* 1: written; 0: nothing had to be. */
int st_oci_config_flush(struct st_oci_config *config, struct st_error *err);
