/* landlock_edit: see landlock_edit.h. */
#include "oci/landlock_edit.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "oci/floor_places.h"
#include "oci/landlock_words.h"

#include <errno.h>
#include <string.h>

#define OWN_FDS "/proc/self/fd/"

/* ---- the words ---- */

static void add(struct st_oci_landlock *l, char *word)
{
    l->words = st_xrealloc(l->words, (l->n + 1) * sizeof(*l->words));
    l->words[l->n++] = word;
}

void st_oci_landlock_free(struct st_oci_landlock *l)
{
    while (l->n > 0)
        free(l->words[--l->n]);
    free(l->words);
    *l = (struct st_oci_landlock){0};
}

void st_oci_landlock_begin(struct st_oci_landlock *l, int helper)
{
    add(l, st_xasprintf(OWN_FDS "%d", helper));
    add(l, st_xstrdup(ST_LANDLOCK_NAME));
}

void st_oci_landlock_permit(struct st_oci_landlock *l, char how, const char *path)
{
    add(l, st_xasprintf("%c%s", how, path));
}

void st_oci_landlock_end(struct st_oci_landlock *l)
{
    add(l, st_xstrdup(ST_LANDLOCK_END));
}

/* ---- what is the kernel's ---- */

static bool makes_entries(const struct st_json_node *mount)
{
    const char *type = st_json_str(st_json_get(mount, "type"), NULL);

    return type && (strncmp(type, "cgroup", strlen("cgroup")) == 0 || strcmp(type, "mqueue") == 0);
}

static void permit_mounts(struct st_oci_landlock *l, const struct st_json_node *mounts)
{
    char at[PATH_MAX];

    st_json_each (mount, mounts)
        if (st_floor_is_pseudo(mount) && !st_floor_option(mount, "ro") && st_floor_destination(mount, at))
            st_oci_landlock_permit(l, makes_entries(mount) ? ST_LANDLOCK_TREE : ST_LANDLOCK_FILES, at);
}

/* Who may write to a disk may change any file on it. */
static bool is_disk(const struct st_json_node *device)
{
    const char *type = st_json_str(st_json_get(device, "type"), NULL);

    return !type || strcmp(type, "b") == 0;
}

void st_oci_landlock_permit_kernel(struct st_oci_landlock *l, const struct st_oci_config *config)
{
    static const char *const always[] = {"/dev/null",    "/dev/zero", "/dev/full",   "/dev/random",
                                         "/dev/urandom", "/dev/tty",  "/dev/console"};
    const struct st_json_node *root = st_oci_config_root(config);

    permit_mounts(l, st_json_get(root, "mounts"));
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        st_oci_landlock_permit(l, ST_LANDLOCK_FILES, always[i]);
    st_json_each (device, st_json_get(st_json_get(root, "linux"), "devices")) {
        const char *path = st_json_str(st_json_get(device, "path"), NULL);

        if (path && path[0] == '/' && !is_disk(device))
            st_oci_landlock_permit(l, ST_LANDLOCK_FILES, path);
    }
}

int st_oci_landlock_check(const struct st_oci_config *config, struct st_error *err)
{
    char at[PATH_MAX];

    st_json_each (mount, st_json_get(st_oci_config_root(config), "mounts")) {
        const char *type = st_json_str(st_json_get(mount, "type"), NULL);

        if (type && strcmp(type, "proc") == 0 && st_floor_destination(mount, at) && strcmp(at, "/proc") == 0)
            return 0;
    }
    return st_fail(err, EINVAL,
                   "`floor: landlock` needs a /proc in the container, and config.json mounts none; mount it, "
                   "or write `floor: mount` into the policy");
}

/* ---- from a note ---- */

int st_oci_landlock_by_note(const char *note, int helper, struct st_oci_landlock *out, struct st_error *err)
{
    st_auto_json doc = NULL;
    st_auto_oci_landlock l = {0};
    const struct st_json_node *rules;

    if (st_json_parse(note, strlen(note), ST_JSON_DEFAULT_LIMITS, &doc, err) < 0)
        return st_wrap(err, "the note of the container's floor");
    rules = st_json_get(st_json_root(doc), "landlock");
    if (!rules)
        return 0;
    st_oci_landlock_begin(&l, helper);
    st_json_each (item, rules) {
        const char *rule = st_json_str(item, NULL);

        if (!rule)
            return st_fail(err, EINVAL, "the note of the container's floor: a rule is no text");
        add(&l, st_xstrdup(rule));
    }
    st_oci_landlock_end(&l);
    *out = l;
    l = (struct st_oci_landlock){0};
    return 1;
}

/* ---- arguments ---- */

/* The original words stay as they are written. */
static int write_args(struct st_buf *out, const char *text, const struct st_json_node *args,
                      const struct st_oci_landlock *l, struct st_error *err)
{
    st_buf_addc(out, '[');
    for (size_t i = 0; i < l->n; i++) {
        st_json_quote(out, l->words[i], strlen(l->words[i]));
        st_buf_addc(out, ',');
    }
    st_json_each (item, args) {
        size_t start, end;

        if (!st_json_is(item, ST_JSON_STRING))
            return st_fail(err, EINVAL, "`args` of the process: not all are texts");
        st_json_span(item, &start, &end);
        if (item != st_json_first(args))
            st_buf_addc(out, ',');
        st_buf_add(out, text + start, end - start);
    }
    st_buf_addc(out, ']');
    return 0;
}

int st_oci_landlock_set_args(struct st_json_edit *edit, const char *text, const struct st_json_node *process,
                             const char *const path[], const struct st_oci_landlock *l, struct st_error *err)
{
    const struct st_json_node *args = st_json_get(process, "args");
    st_auto_buf out = ST_BUF_INIT;

    if (!st_json_is(args, ST_JSON_ARRAY) || !st_json_first(args))
        return st_fail(err, EINVAL, "the process has no `args`");
    if (write_args(&out, text, args, l, err) < 0)
        return -err->errnum;
    return st_json_edit_set(edit, path, st_buf_cstr(&out), err);
}

size_t st_oci_landlock_count(char *const *args, size_t n)
{
    if (n < 2 || strncmp(args[0], OWN_FDS, strlen(OWN_FDS)) != 0 || strcmp(args[1], ST_LANDLOCK_NAME) != 0)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (strcmp(args[i], ST_LANDLOCK_END) == 0)
            return i + 1;
    return 0;
}

void st_oci_landlock_reset_args(struct st_oci_config *config)
{
    const struct st_json_node *args = st_json_get(st_json_get(st_oci_config_root(config), "process"), "args");
    size_t n = st_json_count(args), i = 0, ours;
    st_auto_free char **words = st_xcalloc(n + 1, sizeof(*words));

    st_json_each (item, args) {
        const char *word = st_json_str(item, NULL);

        words[i++] = (char *)(uintptr_t)(word ? word : "");
    }
    ours = st_oci_landlock_count(words, n);
    i = 0;
    st_json_each (item, args)
        if (i++ < ours)
            st_json_edit_remove(st_oci_config_edit(config), item);
}
