/* image: which image a container is of, where its engine can be asked without being asked: a digest that does
 * not change as a name does.
 *
 * Docker keeps it beside the files that it mounts into the container, Podman beside its storage, CRI-O says
 * it in an annotation, containerd's CRI where the image was named by its digest. Others do not tell. */
#pragma once

#include "base/json.h"

#include <stdbool.h>

#define ST_IMAGE_SIZE 256

/* container: an object with `annotations` and `mounts` as config.json has them (or the facts of a trace).
 * rootfs: real path. false: nobody tells. */
bool st_bundle_image(const struct st_json_node *container, const char *id, const char *rootfs,
                     char out[ST_IMAGE_SIZE]);
