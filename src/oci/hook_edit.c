/* hook_edit: see hook_edit.h. An entry is ours by the name of its program or its first argument: an older
 * one, of another installation or of a hooks directory, counts too, so that there are never two. */
#include "oci/hook_edit.h"

#include "base/json_write.h"

#include <string.h>

static bool named_as_ours(const struct st_json_node *string)
{
    const char *s = st_json_str(string, NULL);
    const char *slash = s ? strrchr(s, '/') : NULL;

    return s && strcmp(slash ? slash + 1 : s, ST_OCI_HOOK_NAME) == 0;
}

static bool is_ours(const struct st_json_node *entry)
{
    return named_as_ours(st_json_get(entry, "path")) ||
           named_as_ours(st_json_first(st_json_get(entry, "args")));
}

static void write_entry(struct st_buf *out, const struct st_oci_hook *hook)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstrs(&w, "args", hook->args, ST_JW_ALL);
    st_jw_kstrs(&w, "env", hook->env, ST_JW_ALL);
    st_jw_kstr(&w, "path", hook->path);
    if (hook->timeout_s)
        st_jw_kint(&w, "timeout", hook->timeout_s);
    st_jw_end(&w, '}');
}

/* Is this the text of the entry, and does nothing follow it? */
static bool stands_last(const struct st_oci_config *config, const struct st_json_node *entry,
                        const struct st_buf *wanted)
{
    size_t start, end, len;
    const char *text = st_oci_config_text(config, &len);

    st_json_span(entry, &start, &end);
    return !st_json_next(entry) && end - start == wanted->len &&
           memcmp(text + start, wanted->data, wanted->len) == 0;
}

/* Take our entries out of one stage, but for one that is as it should be. Returns whether there is one. */
static bool clear_stage(struct st_oci_config *config, const struct st_json_node *stage,
                        const struct st_buf *wanted)
{
    bool there = false;

    if (!st_json_is(stage, ST_JSON_ARRAY))
        return false;
    st_json_each (entry, stage) {
        if (!is_ours(entry))
            continue;
        if (wanted && stands_last(config, entry, wanted))
            there = true;
        else
            st_json_edit_remove(st_oci_config_edit(config), entry);
    }
    return there;
}

static int set_stage(struct st_oci_config *config, const char *stage, const struct st_oci_hook *hook,
                     struct st_error *err)
{
    const char *const path[] = {"hooks", stage, NULL};
    const struct st_json_node *hooks = st_json_get(st_oci_config_root(config), path[0]);
    st_auto_buf entry = ST_BUF_INIT;

    write_entry(&entry, hook);
    if (clear_stage(config, st_json_get(hooks, stage), &entry) ||
        st_json_edit_append(st_oci_config_edit(config), path, st_buf_cstr(&entry), err) == 0)
        return 0;
    return st_oci_config_wrap(config, err);
}

int st_oci_set_hooks(struct st_oci_config *config, const struct st_oci_hook *create,
                     const struct st_oci_hook *poststop, struct st_error *err)
{
    const struct st_json_node *hooks = st_json_get(st_oci_config_root(config), "hooks");
    const struct st_json_node *creates = st_json_get(hooks, "createRuntime");
    const struct st_json_node *stops = poststop ? st_json_get(hooks, "poststop") : NULL;

    st_json_each (stage, hooks)
        if (stage != creates && stage != stops)
            clear_stage(config, stage, NULL);
    if (set_stage(config, "createRuntime", create, err) < 0)
        return -err->errnum;
    if (!poststop)
        return 0;
    /* Both may have to make `hooks`: the second on what the first has left. */
    return st_oci_config_settle(config, err) < 0 ? -err->errnum
                                                 : set_stage(config, "poststop", poststop, err);
}

void st_oci_drop_hooks(struct st_oci_config *config)
{
    st_json_each (stage, st_json_get(st_oci_config_root(config), "hooks"))
        clear_stage(config, stage, NULL);
}

const char *st_oci_hooks_argument(const struct st_json_node *hooks, const char *option)
{
    st_json_each (entry, st_json_get(hooks, "createRuntime")) {
        if (!is_ours(entry))
            continue;
        st_json_each (item, st_json_get(entry, "args")) {
            const char *word = st_json_str(item, NULL);

            if (word && strcmp(word, option) == 0)
                return st_json_str(st_json_next(item), NULL);
        }
    }
    return NULL;
}

const char *st_oci_hook_argument(const struct st_oci_config *config, const char *option)
{
    return st_oci_hooks_argument(st_json_get(st_oci_config_root(config), "hooks"), option);
}
