/* openings: see openings.h. */
#include "oci/openings.h"

#include "base/cleanup.h"
#include "base/mountinfo.h"
#include "oci/floor_places.h"

#include <string.h>

/* ---- devices ---- */

#define MEMORY_MAJOR 1
#define ANY (-1)

struct device_rule {
    char type; /* 'a': all, 'b', 'c' */
    int64_t major, minor;
    const char *access;
};

/* What is left out stands for all. */
static struct device_rule read_rule(const struct st_json_node *node)
{
    const char *type = st_json_str(st_json_get(node, "type"), NULL);
    const char *access = st_json_str(st_json_get(node, "access"), NULL);
    struct device_rule r = {.type = type && *type ? *type : 'a',
                            .access = access && *access ? access : "rwm"};

    if (!st_json_int(st_json_get(node, "major"), &r.major))
        r.major = ANY;
    if (!st_json_int(st_json_get(node, "minor"), &r.minor))
        r.minor = ANY;
    return r;
}

static bool is_for_all(const struct device_rule *r)
{
    return r->type == 'a' && r->major == ANY && r->minor == ANY && strchr(r->access, 'r') &&
           strchr(r->access, 'w');
}

/* mem, kmem, port */
static bool is_memory(const struct device_rule *r)
{
    return r->type == 'c' && (r->major == ANY || r->major == MEMORY_MAJOR) &&
           (r->minor == ANY || r->minor == 1 || r->minor == 2 || r->minor == 4);
}

/* To make a node (m) is not to use it. Rules come one after the other; one that refuses all undoes those
 * before it. */
static const char *open_device(const struct st_json_node *rules)
{
    const char *found = NULL;

    st_json_each (node, rules) {
        struct device_rule r = read_rule(node);

        if (!st_json_is(node, ST_JSON_OBJECT))
            continue; /* the runtime will have its own opinion */
        if (!st_json_true(st_json_get(node, "allow")))
            found = is_for_all(&r) ? NULL : found;
        else if (!strpbrk(r.access, "rw"))
            continue;
        else if (r.type == 'a')
            found = "all devices of the machine, its disks and memory among them";
        else if (!found && r.type == 'b')
            found = "disks of the machine (block devices)";
        else if (!found && is_memory(&r))
            found = "the memory of the machine (a device)";
    }
    return found;
}

/* ---- mounts ---- */

void st_oci_put_read_only(const struct st_oci_config *config, struct st_jw *w)
{
    char at[PATH_MAX];

    st_jw_array(w);
    st_json_each (mount, st_json_get(st_oci_config_root(config), "mounts"))
        if ((st_floor_option(mount, "ro") || st_floor_option(mount, "rro")) &&
            st_floor_destination(mount, at))
            st_jw_str(w, at);
    st_jw_end(w, ']');
}

/* ---- settings ---- */

static bool lists(const struct st_json_node *list, const char *path)
{
    st_json_each (item, list) {
        const char *s = st_json_str(item, NULL);

        if (s && strcmp(s, path) == 0)
            return true;
    }
    return false;
}

static bool has_users(const struct st_json_node *namespaces)
{
    st_json_each (ns, namespaces) {
        const char *type = st_json_str(st_json_get(ns, "type"), NULL);

        if (type && strcmp(type, "user") == 0)
            return true;
    }
    return false;
}

static bool mounts_proc(const struct st_json_node *mounts)
{
    st_json_each (mount, mounts) {
        const char *type = st_json_str(st_json_get(mount, "type"), NULL);

        if (type && strcmp(type, "proc") == 0 && !lists(st_json_get(mount, "options"), "ro"))
            return true;
    }
    return false;
}

static const char *const settings[] = {"/proc/sys", "/proc/sysrq-trigger"};
#define N_SETTINGS (sizeof(settings) / sizeof(settings[0]))

static const struct st_json_node *closed_paths(const struct st_oci_config *config)
{
    return st_json_get(st_json_get(st_oci_config_root(config), "linux"), "readonlyPaths");
}

/* Root of the machine's own user namespace may write them, without any capability; and what a core dump is
 * piped into runs outside of every container. */
static bool is_open(const struct st_oci_config *config, const char *path)
{
    const struct st_json_node *root = st_oci_config_root(config), *closed = closed_paths(config);

    return mounts_proc(st_json_get(root, "mounts")) &&
           !has_users(st_json_get(st_json_get(root, "linux"), "namespaces")) && !lists(closed, "/proc") &&
           !lists(closed, path);
}

int st_oci_close_settings(struct st_oci_config *config, struct st_buf *note, struct st_error *err)
{
    static const char *const path[] = {"linux", "readonlyPaths", NULL};

    for (size_t i = 0; i < N_SETTINGS; i++) {
        st_auto_buf quoted = ST_BUF_INIT;

        if (!is_open(config, settings[i]))
            continue;
        st_json_quote(&quoted, settings[i], strlen(settings[i]));
        if (st_json_edit_append(st_oci_config_edit(config), path, st_buf_cstr(&quoted), err) < 0)
            return st_oci_config_wrap(config, err);
        st_buf_addf(note, "%s%s", note->len ? "," : "", settings[i]);
    }
    return 0;
}

void st_oci_reset_settings(struct st_oci_config *config, const char *note)
{
    for (size_t i = 0; note && i < N_SETTINGS; i++) {
        if (!st_option_has(note, settings[i]))
            continue;
        st_json_each (item, closed_paths(config))
            if (st_json_str(item, NULL) && strcmp(st_json_str(item, NULL), settings[i]) == 0)
                st_json_edit_remove(st_oci_config_edit(config), item);
    }
}

const char *st_oci_opening(const struct st_oci_config *config)
{
    const struct st_json_node *root = st_oci_config_root(config);
    const struct st_json_node *resources = st_json_get(st_json_get(root, "linux"), "resources");
    const char *device = open_device(st_json_get(resources, "devices"));

    if (device)
        return device;
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (is_open(config, settings[i]))
            return "the kernel's settings (/proc/sys or /proc/sysrq-trigger is not read-only)";
    return NULL;
}
