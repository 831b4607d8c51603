/* find: see find.h. */
#include "bundle/find.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <stdlib.h>

int st_bundle_select(const struct st_config *config, const struct st_oci_config *bundle, const char *id,
                     struct st_selection *out, struct st_error *err)
{
    const struct st_select_rules rules = {.default_policy = config->default_policy,
                                          .policy_paths = config->policy_paths,
                                          .policy_from_env = config->policy_from_env,
                                          .allow_disable = config->allow_disable,
                                          .light_pods = config->pod_sandbox == ST_POD_SANDBOX_LIGHT,
                                          .depth_by_policy = config->depth == ST_DEPTH_BY_POLICY};
    const struct st_json_node *root = st_oci_config_root(bundle);
    const struct st_select_input input = {.id = id,
                                          .annotations = st_json_get(root, "annotations"),
                                          .env = st_json_get(st_json_get(root, "process"), "env")};

    return st_oci_select(&rules, &input, out, err);
}

int st_bundle_rootfs(const struct st_oci_config *bundle, const char *dir, char out[PATH_MAX],
                     struct st_error *err)
{
    const char *path =
        st_json_str(st_json_get(st_json_get(st_oci_config_root(bundle), "root"), "path"), NULL);
    st_auto_free char *joined = NULL;

    if (!path)
        return st_fail(err, EINVAL, "config.json names no root.path");
    joined = path[0] == '/' ? st_xstrdup(path) : st_xasprintf("%s/%s", dir ? dir : ".", path);
    if (!realpath(joined, out))
        return st_fail_errno(err, "the container's root %s", joined);
    return 0;
}
