/* state: see state.h. */
#include "oci/state.h"

#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PID_LIMIT (1 << 22) /* the kernel's own, on 64 bits */

bool st_oci_id_ok(const char *id)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+,-.";
    size_t len = strlen(id);

    return len >= 1 && len <= ST_OCI_ID_MAX && strspn(id, allowed) == len && strcmp(id, ".") != 0 &&
           strcmp(id, "..") != 0;
}

static bool status_ok(const char *status)
{
    static const char *const known[] = {"", "creating", "created", "running", "stopped", "paused"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i], status) == 0)
            return true;
    return false;
}

static int read_pid(const struct st_json_node *node, pid_t *out, struct st_error *err)
{
    int64_t pid = 0;

    if (node && !st_json_is(node, ST_JSON_NULL) && !st_json_int(node, &pid))
        return st_fail(err, EINVAL, "container state: `pid` is not an integer");
    if (pid < 0 || pid == 1 || pid > PID_LIMIT)
        return st_fail(err, EINVAL, "container state: `pid` is no process of a container");
    *out = (pid_t)pid;
    return 0;
}

static int read_members(const struct st_json_node *root, struct st_oci_state *out, struct st_error *err)
{
    const struct st_json_node *status = st_json_get(root, "status");

    if (!st_json_is(root, ST_JSON_OBJECT))
        return st_fail(err, EINVAL, "container state: not a JSON object");
    out->id = st_json_str(st_json_get(root, "id"), NULL);
    if (!out->id || !st_oci_id_ok(out->id))
        return st_fail(err, EINVAL, "container state: `id` is not a container's ID");
    out->bundle = st_json_str(st_json_get(root, "bundle"), NULL);
    if (!out->bundle || out->bundle[0] != '/' || strlen(out->bundle) >= PATH_MAX)
        return st_fail(err, EINVAL, "container state: `bundle` is not an absolute path");
    out->status = status ? st_json_str(status, NULL) : "";
    if (!out->status || !status_ok(out->status))
        return st_fail(err, EINVAL, "container state: `status` is none that OCI knows");
    out->annotations = st_json_get(root, "annotations");
    if (st_json_is(out->annotations, ST_JSON_NULL))
        out->annotations = NULL;
    if (out->annotations && !st_json_is(out->annotations, ST_JSON_OBJECT))
        return st_fail(err, EINVAL, "container state: `annotations` is not an object");
    return read_pid(st_json_get(root, "pid"), &out->pid, err);
}

int st_oci_state_parse(const char *text, size_t len, struct st_oci_state *out, struct st_error *err)
{
    st_auto_oci_state state = {0};
    int rc;

    if (len > ST_OCI_STATE_MAX)
        return st_fail(err, EFBIG, "container state: larger than the limit of %zu bytes", ST_OCI_STATE_MAX);
    state.text = st_xmalloc(len + 1);
    memcpy(state.text, text, len);
    state.text[len] = '\0';
    rc = st_json_parse(state.text, len, ST_JSON_DEFAULT_LIMITS, &state.doc, err);
    if (rc < 0)
        return st_wrap(err, "container state");
    rc = read_members(st_json_root(state.doc), &state, err);
    if (rc < 0)
        return rc;
    *out = state;
    state = (struct st_oci_state){0};
    return 0;
}

void st_oci_state_free(struct st_oci_state *state)
{
    st_json_free(state->doc);
    free(state->text);
    *state = (struct st_oci_state){0};
}
