/* look: see look.h. */
#include "shim/look.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <string.h>
#include <unistd.h>

#define STATE_MAX ((size_t)16 << 20)

static const char *text_of(const struct st_json_node *node)
{
    const char *text = st_json_str(node, NULL);

    return text ? text : "";
}

/* The bundle is one of the labels, the container's annotations are the others. */
static const char *bundle_of(const struct st_json_node *labels)
{
    st_json_each (item, labels) {
        const char *label = text_of(item);

        if (strncmp(label, "bundle=", strlen("bundle=")) == 0)
            return label + strlen("bundle=");
    }
    return "";
}

static void write_annotations(struct st_jw *w, const struct st_json_node *labels)
{
    st_auto_buf members = ST_BUF_INIT;

    st_json_each (item, labels) {
        const char *label = text_of(item), *equals = strchr(label, '=');

        if (!equals || strncmp(label, "bundle=", strlen("bundle=")) == 0)
            continue;
        st_buf_addc(&members, members.len ? ',' : '{');
        st_json_quote(&members, label, (size_t)(equals - label));
        st_buf_addc(&members, ':');
        st_json_quote(&members, equals + 1, strlen(equals + 1));
    }
    if (!members.len)
        return;
    st_buf_addc(&members, '}');
    st_jw_key(w, "annotations");
    st_jw_raw(w, members.data, members.len);
}

static void print_state(const struct st_json_node *state)
{
    const struct st_json_node *config = st_json_get(state, "config");
    const struct st_json_node *labels = st_json_get(config, "labels");
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;
    int64_t pid = 0;

    st_json_int(st_json_get(state, "init_process_pid"), &pid);
    st_jw_init(&w, &out);
    st_jw_object(&w);
    write_annotations(&w, labels);
    st_jw_kstr(&w, "bundle", bundle_of(labels));
    st_jw_kstr(&w, "created", text_of(st_json_get(state, "created")));
    st_jw_kstr(&w, "id", text_of(st_json_get(state, "id")));
    st_jw_kstr(&w, "ociVersion", text_of(st_json_get(config, "version")));
    st_jw_kstr(&w, "owner", "");
    st_jw_kint(&w, "pid", pid);
    st_jw_kstr(&w, "rootfs", text_of(st_json_get(config, "rootfs")));
    st_jw_kstr(&w, "status", "paused");
    st_jw_end(&w, '}');
    st_buf_addc(&out, '\n');
    (void)st_write_all(STDOUT_FILENO, out.data, out.len);
}

int st_shim_look(const struct st_oci_args *args, struct st_error *err)
{
    st_auto_free char *path =
        st_xasprintf("%s/%s/state.json", args->root ? args->root : "/run/runc", args->id);
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = NULL;

    if (args->command != ST_OCI_STATE || st_read_file(path, STATE_MAX, &text, err) < 0 ||
        st_json_parse(st_buf_cstr(&text), text.len, ST_JSON_DEFAULT_LIMITS, &doc, err) < 0 ||
        !st_json_get(st_json_root(doc), "init_process_pid"))
        return 0;
    print_state(st_json_root(doc));
    return 1;
}
