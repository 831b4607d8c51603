/* review_admit: see review_admit.h. */
#include "desk/review_admit.h"

#include "bundle/find.h"
#include "bundle/image.h"
#include "desk/review.h"

#include <errno.h>
#include <string.h>

static int refuse(const struct st_review *r, const char *what, struct st_error *err)
{
    return st_fail(
        err, EPERM,
        "%s ended by a violation (%.100s), and nobody has reviewed that; look at it with: sandtrace "
        "review show %.200s, and let it start again with: sandtrace review close %.200s --verdict "
        "VERDICT --reason TEXT",
        what,
        r->rule     ? r->rule
        : r->broken ? "its task can't be read"
                    : "no rule",
        r->id, r->id);
}

/* Of a task that can't be read only its name is known: the container's ID, and which time it was. */
static bool is_of(const struct st_review *r, const char *id)
{
    size_t len = strlen(id);

    if (!r->broken)
        return strcmp(r->container, id) == 0;
    if (strncmp(r->id, id, len) != 0)
        return false;
    return !r->id[len] ||
           (r->id[len] == '.' && r->id[len + 1 + strspn(r->id + len + 1, "0123456789")] == '\0');
}

int st_review_admit(const struct st_config *config, const struct st_oci_config *bundle, const char *dir,
                    const char *id, struct st_error *err)
{
    char image[ST_IMAGE_SIZE] = "", rootfs[PATH_MAX] = "";
    struct st_error ignored = {0};
    st_auto_reviews all = {0};

    if (config->refuse_unreviewed == ST_UNREVIEWED_LET)
        return 0;
    if (st_review_list(config->quarantine_dir, &all, err) < 0)
        return st_wrap(err, "refuse_unreviewed");
    if (config->refuse_unreviewed == ST_UNREVIEWED_IMAGE && all.n) {
        (void)st_bundle_rootfs(bundle, dir, rootfs, &ignored);
        (void)st_bundle_image(st_oci_config_root(bundle), id, rootfs, image);
    }
    for (size_t i = 0; i < all.n; i++) {
        const struct st_review *r = &all.list[i];

        if (r->state == ST_REVIEW_CLOSED)
            continue;
        if (is_of(r, id))
            return refuse(r, "this container", err);
        if (image[0] && r->image && strcmp(r->image, image) == 0)
            return refuse(r, "a container of this image", err);
    }
    /* More than can be listed, and ours may be among the rest. */
    return all.more ? st_fail(err, EPERM,
                              "refuse_unreviewed: there are more than %d tasks in %s; move old ones away",
                              ST_REVIEW_LIST_MAX, config->quarantine_dir)
                    : 0;
}
