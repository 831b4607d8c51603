/* config_edit: see config_edit.h. Owns the fd of the directory until the config is freed. */
#include "oci/config_edit.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "oci/spelling.h"

#include <fcntl.h>
#include <string.h>

struct st_oci_config {
    char *where, *name; /* directory as given, for messages; file in it */
    int dir;
    struct st_buf own; /* the text, where we read it ourselves */
    bool settled;      /* it is no longer what the file holds */
    const char *text;
    size_t len;
    struct st_json_doc *doc;
    struct st_json_edit *edit;
};

static int parse(struct st_oci_config *config, struct st_error *err)
{
    int rc = st_json_parse(config->text, config->len, ST_JSON_DEFAULT_LIMITS, &config->doc, err);

    if (rc < 0)
        return rc;
    if (!st_json_is(st_json_root(config->doc), ST_JSON_OBJECT))
        return st_fail(err, EINVAL, "line 1, column 1: not a JSON object");
    config->edit = st_json_edit_new(config->doc, config->text, config->len);
    return st_oci_check_spelling(st_json_root(config->doc), config->text, err);
}

int st_oci_config_parse(const char *text, size_t len, struct st_oci_config **out, struct st_error *err)
{
    st_auto_oci_config config = st_xcalloc(1, sizeof(*config));
    int rc;

    config->dir = -1;
    config->text = text;
    config->len = len;
    if (len > ST_OCI_CONFIG_MAX)
        return st_fail(err, EFBIG, "larger than the limit of %zu bytes", ST_OCI_CONFIG_MAX);
    rc = parse(config, err);
    if (rc < 0)
        return rc;
    *out = st_steal_ptr(&config);
    return 0;
}

/* crun takes the very word config.json for the bundle's, anything else for a path of its own. */
static void locate(struct st_oci_config *config, const char *bundle, const char *file)
{
    const char *slash;

    if (!file || strcmp(file, "config.json") == 0) {
        config->where = st_xstrdup(bundle && *bundle ? bundle : ".");
        config->name = st_xstrdup("config.json");
        return;
    }
    slash = strrchr(file, '/');
    config->name = st_xstrdup(slash ? slash + 1 : file);
    if (!slash)
        config->where = st_xstrdup(".");
    else
        config->where = st_xstrndup(file, slash == file ? 1 : (size_t)(slash - file));
}

int st_oci_config_load(const char *bundle, const char *file, struct st_oci_config **out, struct st_error *err)
{
    st_auto_oci_config config = st_xcalloc(1, sizeof(*config));
    int rc;

    locate(config, bundle, file);
    config->dir = open(config->where, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (config->dir < 0)
        return st_fail_errno(err, "bundle %s", config->where);
    rc = st_read_file_at(config->dir, config->name, false, ST_OCI_CONFIG_MAX, &config->own, err);
    if (rc == -ENOENT)
        return st_fail(err, ENOENT, "JSON specification file %s not found in %s", config->name,
                       config->where);
    if (rc == -ELOOP)
        return st_fail(err, ELOOP, "%s/%s is a symbolic link; put a copy of the file into the bundle instead",
                       config->where, config->name);
    if (rc < 0)
        return st_wrap(err, "bundle %s", config->where);
    config->text = st_buf_cstr(&config->own);
    config->len = config->own.len;
    rc = parse(config, err);
    if (rc < 0)
        return st_oci_config_wrap(config, err);
    *out = st_steal_ptr(&config);
    return 0;
}

void st_oci_config_free(struct st_oci_config *config)
{
    if (!config)
        return;
    st_json_edit_free(config->edit);
    st_json_free(config->doc);
    st_buf_free(&config->own);
    st_close(&config->dir);
    free(config->where);
    free(config->name);
    free(config);
}

void st_oci_config_freep(struct st_oci_config **config)
{
    st_oci_config_free(*config);
    *config = NULL;
}

const struct st_json_node *st_oci_config_root(const struct st_oci_config *config)
{
    return st_json_root(config->doc);
}

const char *st_oci_config_text(const struct st_oci_config *config, size_t *len)
{
    *len = config->len;
    return config->text;
}

struct st_json_edit *st_oci_config_edit(struct st_oci_config *config)
{
    return config->edit;
}

int st_oci_config_wrap(const struct st_oci_config *config, struct st_error *err)
{
    return st_wrap(err, "%s/%s", config->where ? config->where : "",
                   config->name ? config->name : "config.json");
}

int st_oci_config_settle(struct st_oci_config *config, struct st_error *err)
{
    st_auto_buf out = ST_BUF_INIT;
    int rc;

    if (!st_json_edit_changed(config->edit))
        return 0;
    rc = st_json_edit_apply(config->edit, &out, err);
    if (rc < 0)
        return st_oci_config_wrap(config, err);
    st_json_edit_free(config->edit);
    st_json_free(config->doc);
    config->edit = NULL;
    config->doc = NULL;
    st_buf_free(&config->own);
    config->own = out;
    out = (struct st_buf)ST_BUF_INIT;
    config->text = st_buf_cstr(&config->own);
    config->len = config->own.len;
    config->settled = true;
    rc = parse(config, err);
    return rc < 0 ? st_oci_config_wrap(config, err) : 0;
}

int st_oci_config_flush(struct st_oci_config *config, struct st_error *err)
{
    st_auto_buf out = ST_BUF_INIT;
    int rc;

    if (!st_json_edit_changed(config->edit) && !config->settled)
        return 0;
    rc = st_json_edit_apply(config->edit, &out, err);
    if (rc == 0 && out.len > ST_OCI_CONFIG_MAX)
        rc = st_fail(err, EFBIG, "larger than the limit of %zu bytes", ST_OCI_CONFIG_MAX);
    if (rc == 0)
        rc = st_replace_file_at(config->dir, config->name, out.data, out.len, 0600, false, err);
    return rc < 0 ? st_oci_config_wrap(config, err) : 1;
}

bool st_oci_grants(const struct st_oci_config *config, const char *capability)
{
    const struct st_json_node *sets =
        st_json_get(st_json_get(st_oci_config_root(config), "process"), "capabilities");

    st_json_each (set, sets)
        st_json_each (item, set)
            if (st_json_str(item, NULL) && strcmp(st_json_str(item, NULL), capability) == 0)
                return true;
    return false;
}

bool st_oci_makes_namespace(const struct st_oci_config *config, const char *type)
{
    const struct st_json_node *all =
        st_json_get(st_json_get(st_oci_config_root(config), "linux"), "namespaces");

    st_json_each (ns, all) {
        const char *name = st_json_str(st_json_get(ns, "type"), NULL);
        const char *path = st_json_str(st_json_get(ns, "path"), NULL);

        if (name && strcmp(name, type) == 0)
            return !path || !path[0];
    }
    return false;
}
