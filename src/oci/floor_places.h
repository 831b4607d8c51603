/* floor_places: what a config.json says of the places that a floor is about: which mount holds a path, where
 * it is on the host, which parts are the kernel's own. Private to this folder. */
#pragma once

#include "oci/floor_edit.h"

#include <limits.h>
#include <sys/types.h>

struct st_floor_places {
    const struct st_oci_floor *plan;
    const struct st_json_node *mounts;
    uid_t uid; /* of the container's root, on the host */
    gid_t gid;
};

struct st_floor_places st_floor_places(const struct st_oci_config *config, const struct st_oci_floor *plan);

/* Is it in the scope, or one of the paths that rules let be written? */
bool st_floor_in_scope(const struct st_floor_places *f, const char *path);

/* The option of a mount; NULL: it has no such. */
const struct st_json_node *st_floor_option(const struct st_json_node *mount, const char *word);

/* The destination in normal form; false: none that could be one. */
bool st_floor_destination(const struct st_json_node *mount, char out[PATH_MAX]);

/* The kernel's own: nothing of anybody is stored there, and programs must be able to write to some of it. */
bool st_floor_is_pseudo(const struct st_json_node *mount);

/* Has path a mount of its own? */
bool st_floor_has_mount(const struct st_floor_places *f, const char *path);

/* What is not there yet, or is behind a link, is not there. */
bool st_floor_is_there(const struct st_floor_places *f, const char *path);

/* A directory of the scope without a mount of its own: made where it is missing. 1: is there; 0: leads by a
 * symbolic link into the scope; negative: can't be a part of a floor, err says why. */
int st_floor_make_place(const struct st_floor_places *f, const char *dir, struct st_error *err);
