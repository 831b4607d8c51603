/* image: see image.h. */
#include "bundle/image.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define MAX_DOCKER ((size_t)4 << 20)
#define MAX_PODMAN ((size_t)64 << 20)

/* Sixty-four digits of hex, with or without what they are in front; written with it. */
static bool take_digest(const char *text, char out[ST_IMAGE_SIZE])
{
    const char *at = text ? strstr(text, "sha256:") : NULL, *hex = at ? at + 7 : text;

    if (!hex || strspn(hex, "0123456789abcdef") != 64 || (!at && hex[64]))
        return false;
    snprintf(out, ST_IMAGE_SIZE, "sha256:%.64s", hex);
    return true;
}

static bool by_annotation(const struct st_json_node *annotations, char out[ST_IMAGE_SIZE])
{
    static const char *const names[] = {"io.kubernetes.cri-o.ImageRef", "io.kubernetes.cri-o.Image",
                                        "io.kubernetes.cri.image-name"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (take_digest(st_json_str(st_json_get(annotations, names[i]), NULL), out))
            return true;
    return false;
}

/* …/containers/ID/hostname is mounted; …/containers/ID/config.v2.json lies beside it. */
static bool by_docker(const struct st_json_node *mounts, const char *id, char out[ST_IMAGE_SIZE])
{
    st_auto_free char *suffix = st_xasprintf("/containers/%s/hostname", id);
    st_auto_free char *file = NULL;
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = NULL;

    st_json_each (mount, mounts) {
        const char *source = st_json_str(st_json_get(mount, "source"), NULL);
        size_t len = source ? strlen(source) : 0, tail = strlen(suffix);

        if (source && source[0] == '/' && !file && len > tail && strcmp(source + len - tail, suffix) == 0)
            file = st_xasprintf("%.*s/config.v2.json", (int)(len - strlen("/hostname")), source);
    }
    return file && st_read_trusted_file(file, MAX_DOCKER, &text, NULL) == 0 &&
           st_json_parse(st_buf_cstr(&text), text.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) == 0 &&
           take_digest(st_json_str(st_json_get(st_json_root(doc), "Image"), NULL), out);
}

/* STORAGE/overlay/LAYER/merged is the root; STORAGE/overlay-containers/containers.json has all of them. */
static bool by_podman(const char *rootfs, const char *id, char out[ST_IMAGE_SIZE])
{
    const char *layer = strstr(rootfs, "/overlay/");
    st_auto_free char *file =
        layer ? st_xasprintf("%.*s/overlay-containers/containers.json", (int)(layer - rootfs), rootfs) : NULL;
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = NULL;

    if (!file || st_read_trusted_file(file, MAX_PODMAN, &text, NULL) < 0 ||
        st_json_parse(st_buf_cstr(&text), text.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return false;
    st_json_each (container, st_json_root(doc)) {
        const char *its = st_json_str(st_json_get(container, "id"), NULL);

        if (its && strcmp(its, id) == 0)
            return take_digest(st_json_str(st_json_get(container, "image"), NULL), out);
    }
    return false;
}

bool st_bundle_image(const struct st_json_node *container, const char *id, const char *rootfs,
                     char out[ST_IMAGE_SIZE])
{
    return by_annotation(st_json_get(container, "annotations"), out) ||
           by_docker(st_json_get(container, "mounts"), id, out) || (rootfs && by_podman(rootfs, id, out));
}
