/* Any config.json: refused, or edited so that the result parses, has our hook last, has everything else as
 * it was, and is not changed by a second edit. */
#include "oci/hook_edit.h"
#include "oci/openings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const create_args[] = {"sandtrace-hook", "create", NULL};
static const char *const env[] = {"PATH=/bin", NULL};
static const struct st_oci_hook create_hook = {"/l/sandtrace-hook", create_args, env, 30};

struct side {
    struct st_oci_config *config;
    const char *text;
    size_t len;
};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool same_bytes(const struct side *a, size_t a_start, size_t a_end, const struct side *b,
                       size_t b_start, size_t b_end)
{
    return a_end - a_start == b_end - b_start &&
           memcmp(a->text + a_start, b->text + b_start, a_end - a_start) == 0;
}

static bool same_value(const struct side *a, const struct st_json_node *x, const struct side *b,
                       const struct st_json_node *y)
{
    size_t xs, xe, ys, ye;

    st_json_span(x, &xs, &xe);
    st_json_span(y, &ys, &ye);
    return same_bytes(a, st_json_outer_start(x), xe, b, st_json_outer_start(y), ye);
}

static bool ends_with_name(const struct st_json_node *string)
{
    const char *s = st_json_str(string, NULL), *slash = s ? strrchr(s, '/') : NULL;

    return s && strcmp(slash ? slash + 1 : s, ST_OCI_HOOK_NAME) == 0;
}

static bool ours(const struct st_json_node *entry)
{
    return ends_with_name(st_json_get(entry, "path")) ||
           ends_with_name(st_json_first(st_json_get(entry, "args")));
}

/* Every hook of others, in its order; and ours once, at the end, where it belongs. */
static void check_stage(const struct side *a, const struct st_json_node *before, const struct side *b,
                        const struct st_json_node *after, const char *name)
{
    bool wanted = strcmp(name, "createRuntime") == 0, last_is_ours = false;
    const struct st_json_node *x = st_json_is(before, ST_JSON_ARRAY) ? st_json_first(before) : NULL;
    int n_ours = 0;

    st_json_each (y, after) {
        last_is_ours = ours(y);
        n_ours += last_is_ours;
        if (last_is_ours)
            continue;
        while (x && ours(x))
            x = st_json_next(x);
        demand(x && same_value(a, x, b, y));
        x = st_json_next(x);
    }
    while (x && ours(x))
        x = st_json_next(x);
    demand(!x && n_ours == wanted && last_is_ours == wanted);
}

static void check_result(const struct side *a, const struct side *b)
{
    static const char *const stages[] = {"prestart",       "createRuntime", "createContainer",
                                         "startContainer", "poststart",     "poststop"};
    const struct st_json_node *x = st_json_first(st_oci_config_root(a->config));
    const struct st_json_node *old = st_json_get(st_oci_config_root(a->config), "hooks");
    const struct st_json_node *new = st_json_get(st_oci_config_root(b->config), "hooks");

    st_json_each (y, st_oci_config_root(b->config)) {
        if (y == new) {
            if (x == old && x)
                x = st_json_next(x);
            continue;
        }
        demand(x && same_value(a, x, b, y));
        x = st_json_next(x);
    }
    demand(!x && st_json_is(new, ST_JSON_OBJECT));
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
        const struct st_json_node *after = st_json_get(new, stages[i]);

        if (st_json_is(after, ST_JSON_ARRAY))
            check_stage(a, st_json_get(old, stages[i]), b, after, stages[i]);
    }
}

/* With an entry at the end too: what was done once stays so. */
static void check_both(const struct st_buf *text)
{
    st_auto_oci_config first = NULL;
    st_auto_oci_config second = NULL;
    struct st_error err = {0};
    const char *once;
    size_t len;

    demand(st_oci_config_parse(st_buf_cstr(text), text->len, &first, &err) == 0);
    if (st_oci_set_hooks(first, &create_hook, &create_hook, &err) < 0)
        return;
    demand(st_oci_config_settle(first, &err) == 0);
    once = st_oci_config_text(first, &len);
    demand(st_oci_config_parse(once, len, &second, &err) == 0);
    demand(st_oci_set_hooks(second, &create_hook, &create_hook, &err) == 0);
    demand(!st_json_edit_changed(st_oci_config_edit(second)));
}

/* What is closed can be opened again, and then opens what it did. */
static void check_settings(const struct st_buf *text)
{
    st_auto_oci_config config = NULL;
    st_auto_buf note = ST_BUF_INIT;
    struct st_error err = {0};
    const char *before;

    demand(st_oci_config_parse(st_buf_cstr(text), text->len, &config, &err) == 0);
    before = st_oci_opening(config);
    if (st_oci_close_settings(config, &note, &err) < 0)
        return;
    demand(st_oci_config_settle(config, &err) == 0);
    if (note.len && strstr(before, "settings"))
        demand(!st_oci_opening(config));
    st_oci_reset_settings(config, note.len ? st_buf_cstr(&note) : NULL);
    demand(st_oci_config_settle(config, &err) == 0);
    demand(st_oci_opening(config) == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_auto_oci_config first = NULL;
    st_auto_oci_config second = NULL;
    st_auto_buf text = ST_BUF_INIT, once = ST_BUF_INIT;
    struct st_error err = {0};

    st_buf_add(&text, data, size);
    if (st_oci_config_parse(st_buf_cstr(&text), text.len, &first, &err) < 0 ||
        st_oci_set_hooks(first, &create_hook, NULL, &err) < 0) {
        demand(err.msg[0]);
        return 0;
    }
    demand(st_json_edit_apply(st_oci_config_edit(first), &once, &err) == 0);
    demand(st_oci_config_parse(once.data, once.len, &second, &err) == 0);
    check_result(&(struct side){first, text.data, text.len}, &(struct side){second, once.data, once.len});
    demand(st_oci_set_hooks(second, &create_hook, NULL, &err) == 0);
    demand(!st_json_edit_changed(st_oci_config_edit(second)));
    check_both(&text);
    check_settings(&text);
    return 0;
}
