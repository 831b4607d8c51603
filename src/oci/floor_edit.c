/* floor_edit: see floor_edit.h. */
#include "oci/floor_edit.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "oci/floor_places.h"
#include "oci/landlock_edit.h"
#include "oci/landlock_words.h"

#include <errno.h>
#include <string.h>

static const char *const mounts_path[] = {"mounts", NULL};
static const char *const readonly_path[] = {"root", "readonly", NULL};

struct floor {
    struct st_oci_config *config;
    struct st_floor_places places;
    const char **writable, **guarded; /* of the plan: mounts were made for these */
    size_t n_writable, n_guarded;
    char **readonly; /* destinations of mounts that were made so */
    size_t n_readonly;
    struct st_oci_landlock landlock; /* the words before the command */
};

/* ---- changing ---- */

static int add_mount(struct floor *f, const char *path, const char *access, struct st_error *err)
{
    st_auto_free char *source = st_xasprintf("%s%s", f->places.plan->rootfs, path);
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

/* It may be written: by a mount of its own over itself, or by a rule. */
static int let_write(struct floor *f, const char *path, struct st_error *err)
{
    if (f->places.plan->helper) {
        st_oci_landlock_permit(&f->landlock, ST_LANDLOCK_TREE, path);
        return 0;
    }
    if (st_floor_has_mount(&f->places, path))
        return 0; /* as writable as its owner wants it */
    f->writable[f->n_writable++] = path;
    return add_mount(f, path, "rw", err);
}

static int open_scope(struct floor *f, const char *dir, struct st_error *err)
{
    int rc = st_floor_has_mount(&f->places, dir) ? 1 : st_floor_make_place(&f->places, dir, err);

    return rc == 1 ? let_write(f, dir, err) : rc;
}

static int open_also(struct floor *f, const char *path, struct st_error *err)
{
    if (!st_floor_has_mount(&f->places, path) && !st_floor_is_there(&f->places, path))
        return 0;
    return let_write(f, path, err);
}

static int guard(struct floor *f, const char *path, struct st_error *err)
{
    if (!st_floor_in_scope(&f->places, path) || !st_floor_is_there(&f->places, path))
        return 0;
    f->guarded[f->n_guarded++] = path;
    return add_mount(f, path, "ro", err);
}

static int make_readonly(struct floor *f, const struct st_json_node *mount, const char *at,
                         struct st_error *err)
{
    struct st_json_edit *edit = st_oci_config_edit(f->config);
    const struct st_json_node *options = st_json_get(mount, "options"), *rw = st_floor_option(mount, "rw");

    if (st_floor_option(mount, "ro") || st_floor_option(mount, "rro"))
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

    f->readonly = st_xcalloc(st_json_count(f->places.mounts) + 1, sizeof(*f->readonly));
    st_json_each (mount, f->places.mounts)
        if (st_floor_destination(mount, at) && !st_floor_is_pseudo(mount) &&
            !st_floor_in_scope(&f->places, at) && make_readonly(f, mount, at, err) < 0)
            return -err->errnum;
    return 0;
}

static int open_places(struct floor *f, struct st_error *err)
{
    const struct st_oci_floor *plan = f->places.plan;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < plan->n_scope; i++)
        rc = open_scope(f, plan->scope[i], err);
    for (size_t i = 0; rc == 0 && i < plan->n_also; i++)
        rc = open_also(f, plan->also[i], err);
    for (size_t i = 0; rc == 0 && i < plan->n_guarded; i++)
        rc = guard(f, plan->guarded[i], err);
    return rc;
}

/* ---- who could take it away ---- */

static int check_capabilities(const struct st_oci_config *config, struct st_error *err)
{
    if (!st_oci_grants(config, "CAP_SYS_ADMIN"))
        return 0;
    return st_fail(
        err, EPERM,
        "the container is granted CAP_SYS_ADMIN (privileged?), with which it could mount the policy's "
        "floor away; do not grant it, or write `floor: landlock` or `floor: off` into the policy");
}

/* ---- all of it ---- */

static void write_note(const struct floor *f, bool root, struct st_buf *note)
{
    struct st_jw w;

    st_jw_init(&w, note);
    st_jw_object(&w);
    if (f->landlock.n)
        st_jw_kint(&w, "abi", f->places.plan->abi);
    st_jw_kstrs(&w, "guarded", f->guarded, f->n_guarded);
    if (f->landlock.n) /* the rules, between the helper's own words */
        st_jw_kstrs(&w, "landlock", (const char *const *)f->landlock.words + 2, f->landlock.n - 3);
    st_jw_kstrs(&w, "readonly", (const char *const *)f->readonly, f->n_readonly);
    st_jw_kbool(&w, "root", root);
    st_jw_kstrs(&w, "writable", f->writable, f->n_writable);
    st_jw_end(&w, '}');
}

static int build_by_mounts(struct floor *f, struct st_buf *note, struct st_error *err)
{
    const struct st_json_node *root = st_json_get(st_oci_config_root(f->config), "root");
    bool was_readonly = st_json_true(st_json_get(root, "readonly"));

    if (check_capabilities(f->config, err) < 0 || open_places(f, err) < 0 || close_others(f, err) < 0 ||
        st_json_edit_set(st_oci_config_edit(f->config), readonly_path, "true", err) < 0)
        return -err->errnum;
    write_note(f, !was_readonly, note);
    return 0;
}

/* Rules only permit: what is guarded in a directory that may be written is a mount here too. */
static int build_by_landlock(struct floor *f, struct st_buf *note, struct st_error *err)
{
    static const char *const args_path[] = {"process", "args", NULL};
    const struct st_json_node *process = st_json_get(st_oci_config_root(f->config), "process");
    size_t len;

    if (st_oci_landlock_check(f->config, err) < 0)
        return -err->errnum;
    st_oci_landlock_begin(&f->landlock, f->places.plan->helper);
    if (open_places(f, err) < 0)
        return -err->errnum;
    st_oci_landlock_permit_kernel(&f->landlock, f->config);
    st_oci_landlock_end(&f->landlock);
    write_note(f, false, note);
    return st_oci_landlock_set_args(st_oci_config_edit(f->config), st_oci_config_text(f->config, &len),
                                    process, args_path, &f->landlock, err);
}

static int build(struct floor *f, struct st_buf *note, struct st_error *err)
{
    if (f->places.plan->helper)
        return build_by_landlock(f, note, err);
    if (!st_floor_in_scope(&f->places, "/"))
        return build_by_mounts(f, note, err);
    write_note(f, false, note); /* nothing is outside */
    return 0;
}

int st_oci_set_floor(struct st_oci_config *config, const struct st_oci_floor *plan, struct st_buf *note,
                     struct st_error *err)
{
    struct floor f = {.config = config,
                      .places = st_floor_places(config, plan),
                      .writable = st_xcalloc(plan->n_scope + plan->n_also + 1, sizeof(char *)),
                      .guarded = st_xcalloc(plan->n_guarded + 1, sizeof(char *))};
    int rc = build(&f, note, err);

    while (f.n_readonly > 0)
        free(f.readonly[--f.n_readonly]);
    free(f.readonly);
    free(f.writable);
    free(f.guarded);
    st_oci_landlock_free(&f.landlock);
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

    return st_json_count(st_json_get(mount, "options")) == 3 && st_floor_option(mount, "rbind") &&
           st_floor_option(mount, "rprivate") && len > tail && strcmp(source + len - tail, at) == 0;
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
    if (st_json_get(note, "landlock"))
        st_oci_landlock_reset_args(config);
    st_json_each (mount, st_json_get(st_oci_config_root(config), "mounts")) {
        if (!st_floor_destination(mount, at))
            continue;
        if ((lists(st_json_get(note, "writable"), at) || lists(st_json_get(note, "guarded"), at)) &&
            is_ours(mount, at))
            st_json_edit_remove(edit, mount);
        else if (lists(st_json_get(note, "readonly"), at) && st_floor_option(mount, "ro"))
            st_json_edit_replace(edit, st_floor_option(mount, "ro"), "\"rw\"");
    }
    return st_json_true(st_json_get(note, "root")) ? st_json_edit_set(edit, readonly_path, "false", err) : 0;
}
