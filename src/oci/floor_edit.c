/* floor_edit: see floor_edit.h. */
#include "oci/floor_edit.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/path.h"
#include "oci/tree.h"

#include <errno.h>
#include <string.h>

static const char *const mounts_path[] = {"mounts", NULL};
static const char *const readonly_path[] = {"root", "readonly", NULL};

struct floor {
    struct st_oci_config *config;
    const struct st_oci_floor *plan;
    const struct st_json_node *mounts;
    uid_t uid; /* of the container's root, on the host */
    gid_t gid;
    const char **writable, **guarded; /* of the plan: mounts were made for these */
    size_t n_writable, n_guarded;
    char **readonly; /* destinations of mounts that were made so */
    size_t n_readonly;
};

/* ---- reading ---- */

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    if (len == 1)
        return true;
    return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static bool in_scope(const struct floor *f, const char *path)
{
    for (size_t i = 0; i < f->plan->n_scope; i++)
        if (is_below(path, f->plan->scope[i]))
            return true;
    for (size_t i = 0; i < f->plan->n_also; i++)
        if (is_below(path, f->plan->also[i]))
            return true;
    return false;
}

static const struct st_json_node *option(const struct st_json_node *mount, const char *word)
{
    st_json_each (item, st_json_get(mount, "options")) {
        const char *s = st_json_str(item, NULL);

        if (s && strcmp(s, word) == 0)
            return item;
    }
    return NULL;
}

/* The destination in normal form; false: none that could be one. */
static bool destination(const struct st_json_node *mount, char out[PATH_MAX])
{
    const char *s = st_json_str(st_json_get(mount, "destination"), NULL);
    size_t len = s ? st_path_normalise(s, strlen(s), out, PATH_MAX - 1) : 0;

    out[len] = '\0';
    return len > 0;
}

/* The kernel's own: nothing of anybody is stored there, and programs must be able to write to some of it. */
static bool is_pseudo(const struct st_json_node *mount)
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

    return (type && strcmp(type, "bind") == 0) || option(mount, "bind") || option(mount, "rbind");
}

/* Which mount of the configuration holds path; the last one that covers it. NULL: the root. */
static const struct st_json_node *mount_over(const struct floor *f, const char *path, char at[PATH_MAX])
{
    const struct st_json_node *found = NULL;
    char here[PATH_MAX];

    st_json_each (mount, f->mounts)
        if (destination(mount, here) && is_below(path, here)) {
            found = mount;
            memcpy(at, here, PATH_MAX);
        }
    return found;
}

/* Where on the host path is before the container starts. false: nowhere (a file system made for it). */
static bool place_on_host(const struct floor *f, const char *path, const char **base, const char **rest)
{
    char at[PATH_MAX];
    const struct st_json_node *mount = mount_over(f, path, at);

    *base = mount ? st_json_str(st_json_get(mount, "source"), NULL) : f->plan->rootfs;
    *rest = mount ? path + strlen(at) : path;
    return !mount || (is_bind(mount) && *base && (*base)[0] == '/');
}

/* ---- changing ---- */

static int add_mount(struct floor *f, const char *path, const char *access, struct st_error *err)
{
    st_auto_free char *source = st_xasprintf("%s%s", f->plan->rootfs, path);
    st_auto_buf text = ST_BUF_INIT;
    struct st_jw w;

    st_jw_init(&w, &text);
    st_jw_object(&w);
    st_jw_kstr(&w, "destination", path);
    st_jw_key(&w, "options");
    st_jw_array(&w);
    st_jw_str(&w, "rbind");
    st_jw_str(&w, "rprivate");
    st_jw_str(&w, access);
    st_jw_end(&w, ']');
    st_jw_kstr(&w, "source", source);
    st_jw_kstr(&w, "type", "bind");
    st_jw_end(&w, '}');
    return st_json_edit_append(st_oci_config_edit(f->config), mounts_path, st_buf_cstr(&text), err);
}

/* The directory may be a symbolic link of the image: fine where it leads into the scope, which has a mount
 * there. */
static int through_link(const struct floor *f, const char *dir, const char *base, const char *rest,
                        struct st_error *err)
{
    char real[PATH_MAX];
    int rc = st_tree_resolve(base, rest, real);

    if (rc == 0 && base == f->plan->rootfs && in_scope(f, real) && strcmp(real, dir) != 0)
        return 0;
    return st_fail(err, ELOOP,
                   "%s is in the policy's scope, but in the image it is a symbolic link%s%s; name the "
                   "directory itself in the scope, or mount a volume there",
                   dir, rc == 0 ? " to " : "", rc == 0 ? real : "");
}

static int open_scope(struct floor *f, const char *dir, struct st_error *err)
{
    char at[PATH_MAX];
    const struct st_json_node *mount = mount_over(f, dir, at);
    const char *base, *rest;
    int rc;

    if (mount && strcmp(at, dir) == 0)
        return 0; /* has one of its own, as writable as its owner wants it */
    if (!place_on_host(f, dir, &base, &rest))
        return st_fail(
            err, EINVAL,
            "%s is in the policy's scope, but lies in a file system that is made at the start (%s); put "
            "%s itself into the scope",
            dir, at, at);
    rc = st_tree_look(base, rest);
    if (rc == 0)
        rc = st_tree_make(base, rest, f->uid, f->gid, err);
    if (rc == -ELOOP)
        return through_link(f, dir, base, rest, err);
    if (rc < 0)
        return err->errnum ? rc : st_fail(err, -rc, "%s of the policy's scope: %s", dir, strerror(-rc));
    f->writable[f->n_writable++] = dir;
    return add_mount(f, dir, "rw", err);
}

/* What is not there yet, or is behind a link, has no place for a mount. */
static bool is_there(const struct floor *f, const char *path)
{
    const char *base, *rest;

    return place_on_host(f, path, &base, &rest) && st_tree_look(base, rest) == 1;
}

static int open_also(struct floor *f, const char *path, struct st_error *err)
{
    char at[PATH_MAX];
    const struct st_json_node *mount = mount_over(f, path, at);

    if ((mount && strcmp(at, path) == 0) || !is_there(f, path))
        return 0;
    f->writable[f->n_writable++] = path;
    return add_mount(f, path, "rw", err);
}

static int guard(struct floor *f, const char *path, struct st_error *err)
{
    if (!in_scope(f, path) || !is_there(f, path))
        return 0;
    f->guarded[f->n_guarded++] = path;
    return add_mount(f, path, "ro", err);
}

static int make_readonly(struct floor *f, const struct st_json_node *mount, const char *at,
                         struct st_error *err)
{
    struct st_json_edit *edit = st_oci_config_edit(f->config);
    const struct st_json_node *options = st_json_get(mount, "options"), *rw = option(mount, "rw");

    if (option(mount, "ro") || option(mount, "rro"))
        return 0;
    f->readonly[f->n_readonly++] = st_xstrdup(at);
    if (rw)
        st_json_edit_replace(edit, rw, "\"ro\"");
    else if (st_json_is(options, ST_JSON_ARRAY))
        st_json_edit_add(edit, options, "\"ro\"");
    else
        return st_fail(err, EINVAL, "the mount on %s has no list of options", at);
    return 0;
}

static int close_others(struct floor *f, struct st_error *err)
{
    char at[PATH_MAX];

    f->readonly = st_xcalloc(st_json_count(f->mounts) + 1, sizeof(*f->readonly));
    st_json_each (mount, f->mounts)
        if (destination(mount, at) && !is_pseudo(mount) && !in_scope(f, at) &&
            make_readonly(f, mount, at, err) < 0)
            return -err->errnum;
    return 0;
}

/* ---- who could take it away ---- */

static int check_capabilities(const struct st_oci_config *config, struct st_error *err)
{
    const struct st_json_node *sets =
        st_json_get(st_json_get(st_oci_config_root(config), "process"), "capabilities");

    st_json_each (set, sets)
        st_json_each (item, set)
            if (st_json_str(item, NULL) && strcmp(st_json_str(item, NULL), "CAP_SYS_ADMIN") == 0)
                return st_fail(
                    err, EPERM,
                    "the container is granted CAP_SYS_ADMIN (privileged?), with which it could mount "
                    "the policy's floor away; do not grant it, or write `floor: off` into the policy");
    return 0;
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

/* ---- all of it ---- */

static void write_list(struct st_jw *w, const char *key, const char *const *list, size_t n)
{
    st_jw_key(w, key);
    st_jw_array(w);
    for (size_t i = 0; i < n; i++)
        st_jw_str(w, list[i]);
    st_jw_end(w, ']');
}

static void write_note(const struct floor *f, bool root, struct st_buf *note)
{
    struct st_jw w;

    st_jw_init(&w, note);
    st_jw_object(&w);
    write_list(&w, "guarded", f->guarded, f->n_guarded);
    write_list(&w, "readonly", (const char *const *)f->readonly, f->n_readonly);
    st_jw_kbool(&w, "root", root);
    write_list(&w, "writable", f->writable, f->n_writable);
    st_jw_end(&w, '}');
}

static int build(struct floor *f, struct st_buf *note, struct st_error *err)
{
    const struct st_json_node *root = st_json_get(st_oci_config_root(f->config), "root");
    bool was_readonly = st_json_true(st_json_get(root, "readonly"));
    int rc;

    if (in_scope(f, "/")) { /* nothing is outside */
        write_note(f, false, note);
        return 0;
    }
    rc = check_capabilities(f->config, err);
    for (size_t i = 0; rc == 0 && i < f->plan->n_scope; i++)
        rc = open_scope(f, f->plan->scope[i], err);
    for (size_t i = 0; rc == 0 && i < f->plan->n_also; i++)
        rc = open_also(f, f->plan->also[i], err);
    for (size_t i = 0; rc == 0 && i < f->plan->n_guarded; i++)
        rc = guard(f, f->plan->guarded[i], err);
    if (rc == 0)
        rc = close_others(f, err);
    if (rc == 0)
        rc = st_json_edit_set(st_oci_config_edit(f->config), readonly_path, "true", err);
    if (rc == 0)
        write_note(f, !was_readonly, note);
    return rc;
}

int st_oci_set_floor(struct st_oci_config *config, const struct st_oci_floor *plan, struct st_buf *note,
                     struct st_error *err)
{
    struct floor f = {.config = config,
                      .plan = plan,
                      .mounts = st_json_get(st_oci_config_root(config), "mounts"),
                      .uid = (uid_t)root_id(config, "uidMappings"),
                      .gid = (gid_t)root_id(config, "gidMappings"),
                      .writable = st_xcalloc(plan->n_scope + plan->n_also + 1, sizeof(char *)),
                      .guarded = st_xcalloc(plan->n_guarded + 1, sizeof(char *))};
    int rc = build(&f, note, err);

    while (f.n_readonly > 0)
        free(f.readonly[--f.n_readonly]);
    free(f.readonly);
    free(f.writable);
    free(f.guarded);
    return rc < 0 ? st_oci_config_wrap(config, err) : 0;
}

/* ---- the way back ---- */

static bool lists(const struct st_json_node *list, const char *path)
{
    st_json_each (item, list)
        if (st_json_str(item, NULL) && strcmp(st_json_str(item, NULL), path) == 0)
            return true;
    return false;
}

/* Of the form that add_mount gives it. */
static bool is_ours(const struct st_json_node *mount, const char *at)
{
    const char *source = st_json_str(st_json_get(mount, "source"), NULL);
    size_t len = source ? strlen(source) : 0, tail = strlen(at);

    return st_json_count(st_json_get(mount, "options")) == 3 && option(mount, "rbind") &&
           option(mount, "rprivate") && len > tail && strcmp(source + len - tail, at) == 0;
}

int st_oci_reset_floor(struct st_oci_config *config, const char *text, struct st_error *err)
{
    struct st_json_edit *edit = st_oci_config_edit(config);
    st_auto_json doc = NULL;
    const struct st_json_node *note;
    char at[PATH_MAX];

    if (!text)
        return 0;
    if (st_json_parse(text, strlen(text), ST_JSON_DEFAULT_LIMITS, &doc, err) < 0)
        return st_wrap(err, "the note of an earlier run, in our hook's arguments");
    note = st_json_root(doc);
    st_json_each (mount, st_json_get(st_oci_config_root(config), "mounts")) {
        if (!destination(mount, at))
            continue;
        if ((lists(st_json_get(note, "writable"), at) || lists(st_json_get(note, "guarded"), at)) &&
            is_ours(mount, at))
            st_json_edit_remove(edit, mount);
        else if (lists(st_json_get(note, "readonly"), at) && option(mount, "ro"))
            st_json_edit_replace(edit, option(mount, "ro"), "\"rw\"");
    }
    return st_json_true(st_json_get(note, "root")) ? st_json_edit_set(edit, readonly_path, "false", err) : 0;
}
