/* floor_places: see floor_places.h. */
#include "oci/floor_places.h"

#include "base/path.h"
#include "oci/tree.h"

#include <errno.h>
#include <string.h>

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    if (len == 1)
        return true;
    return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

bool st_floor_in_scope(const struct st_floor_places *f, const char *path)
{
    for (size_t i = 0; i < f->plan->n_scope; i++)
        if (is_below(path, f->plan->scope[i]))
            return true;
    for (size_t i = 0; i < f->plan->n_also; i++)
        if (is_below(path, f->plan->also[i]))
            return true;
    return false;
}

const struct st_json_node *st_floor_option(const struct st_json_node *mount, const char *word)
{
    st_json_each (item, st_json_get(mount, "options")) {
        const char *s = st_json_str(item, NULL);

        if (s && strcmp(s, word) == 0)
            return item;
    }
    return NULL;
}

bool st_floor_destination(const struct st_json_node *mount, char out[PATH_MAX])
{
    const char *s = st_json_str(st_json_get(mount, "destination"), NULL);
    size_t len = s ? st_path_normalise(s, strlen(s), out, PATH_MAX - 1) : 0;

    out[len] = '\0';
    return len > 0;
}

bool st_floor_is_pseudo(const struct st_json_node *mount)
{
    static const char *const types[] = {"proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue"};
    const char *type = st_json_str(st_json_get(mount, "type"), NULL);

    for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

static bool is_bind(const struct st_json_node *mount)
{
    const char *type = st_json_str(st_json_get(mount, "type"), NULL);

    return (type && strcmp(type, "bind") == 0) || st_floor_option(mount, "bind") ||
           st_floor_option(mount, "rbind");
}

/* Which mount of the configuration holds path; the last one that covers it. NULL: the root. */
static const struct st_json_node *mount_over(const struct st_floor_places *f, const char *path,
                                             char at[PATH_MAX])
{
    const struct st_json_node *found = NULL;
    char here[PATH_MAX];

    st_json_each (mount, f->mounts)
        if (st_floor_destination(mount, here) && is_below(path, here)) {
            found = mount;
            memcpy(at, here, PATH_MAX);
        }
    return found;
}

/* Where on the host path is before the container starts. false: nowhere (a file system made for it). */
static bool place_on_host(const struct st_floor_places *f, const char *path, const char **base,
                          const char **rest)
{
    char at[PATH_MAX];
    const struct st_json_node *mount = mount_over(f, path, at);

    *base = mount ? st_json_str(st_json_get(mount, "source"), NULL) : f->plan->rootfs;
    *rest = mount ? path + strlen(at) : path;
    return !mount || (is_bind(mount) && *base && (*base)[0] == '/');
}

/* The directory may be a symbolic link of the image: fine where it leads into the scope, which has a mount
 * there. */
static int through_link(const struct st_floor_places *f, const char *dir, const char *base, const char *rest,
                        struct st_error *err)
{
    char real[PATH_MAX];
    int rc = st_tree_resolve(base, rest, real);

    if (rc == 0 && base == f->plan->rootfs && st_floor_in_scope(f, real) && strcmp(real, dir) != 0)
        return 0;
    return st_fail(err, ELOOP,
                   "%s is in the policy's scope, but in the image it is a symbolic link%s%s; name the "
                   "directory itself in the scope, or mount a volume there",
                   dir, rc == 0 ? " to " : "", rc == 0 ? real : "");
}

int st_floor_make_place(const struct st_floor_places *f, const char *dir, struct st_error *err)
{
    char at[PATH_MAX];
    const char *base, *rest;
    int rc;

    if (!place_on_host(f, dir, &base, &rest)) {
        mount_over(f, dir, at);
        return st_fail(
            err, EINVAL,
            "%s is in the policy's scope, but lies in a file system that is made at the start (%s); put "
            "%s itself into the scope",
            dir, at, at);
    }
    rc = st_tree_look(base, rest);
    if (rc == 0)
        rc = st_tree_make(base, rest, f->uid, f->gid, err);
    if (rc == -ELOOP)
        return through_link(f, dir, base, rest, err);
    if (rc < 0)
        return err->errnum ? rc : st_fail(err, -rc, "%s of the policy's scope: %s", dir, strerror(-rc));
    return 1;
}

bool st_floor_has_mount(const struct st_floor_places *f, const char *path)
{
    char at[PATH_MAX];

    return mount_over(f, path, at) && strcmp(at, path) == 0;
}

bool st_floor_is_there(const struct st_floor_places *f, const char *path)
{
    const char *base, *rest;

    return place_on_host(f, path, &base, &rest) && st_tree_look(base, rest) == 1;
}

/* The host's id of the container's root. */
static int64_t root_id(const struct st_oci_config *config, const char *key)
{
    const struct st_json_node *list = st_json_get(st_json_get(st_oci_config_root(config), "linux"), key);
    int64_t inner, outer;

    st_json_each (item, list)
        if (st_json_int(st_json_get(item, "containerID"), &inner) && inner == 0 &&
            st_json_int(st_json_get(item, "hostID"), &outer) && outer >= 0 && outer < UINT32_MAX)
            return outer;
    return 0;
}

struct st_floor_places st_floor_places(const struct st_oci_config *config, const struct st_oci_floor *plan)
{
    return (struct st_floor_places){.plan = plan,
                                    .mounts = st_json_get(st_oci_config_root(config), "mounts"),
                                    .uid = (uid_t)root_id(config, "uidMappings"),
                                    .gid = (gid_t)root_id(config, "gidMappings")};
}
