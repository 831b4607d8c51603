/* landlock_edit: puts the helper of Landlock's floor (shim/landlock_helper.c) before a container's command,
 * with the rules in its arguments; and takes it away again. */
#pragma once

#include "base/json_edit.h"
#include "oci/config_edit.h"

#include <stddef.h>

/* What stands before the command: the helper, its rules, and the word that ends them. */
struct st_oci_landlock {
    char **words;
    size_t n;
};

void st_oci_landlock_free(struct st_oci_landlock *l);
#define st_auto_oci_landlock __attribute__((cleanup(st_oci_landlock_free))) struct st_oci_landlock

/* helper: number of its fd in the container. Rules follow, then the end. */
void st_oci_landlock_begin(struct st_oci_landlock *l, int helper);
void st_oci_landlock_permit(struct st_oci_landlock *l, char how, const char *path);
void st_oci_landlock_end(struct st_oci_landlock *l);

/* The kernel's own mounts that are writable, and devices that are no disks. */
void st_oci_landlock_permit_kernel(struct st_oci_landlock *l, const struct st_oci_config *config);

/* All words by the note of an earlier start (floor_edit.h). 1; 0: its floor is another; negative: no note. */
int st_oci_landlock_by_note(const char *note, int helper, struct st_oci_landlock *out, struct st_error *err);

/* The helper finds itself, and the runtime the helper, in /proc. */
int st_oci_landlock_check(const struct st_oci_config *config, struct st_error *err);

/* process: an object that has the `args` of the text; path: where it is. */
int st_oci_landlock_set_args(struct st_json_edit *edit, const char *text, const struct st_json_node *process,
                             const char *const path[], const struct st_oci_landlock *l, struct st_error *err);

/* How many of the words are not the command's own. */
size_t st_oci_landlock_count(char *const *args, size_t n);

/* config.json as it was before. */
void st_oci_landlock_reset_args(struct st_oci_config *config);
