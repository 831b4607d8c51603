/* select: which policy a container gets, and whether it is watched at all. Pure: annotations, environment and
 * the configuration's permissions in, a decision or a refusal out.
 *
 * Whoever writes annotations is not trusted beyond what the configuration says. A request that is not
 * allowed stops the container and says so; it is never silently dropped. */
#pragma once

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>

struct st_select_rules { /* of the configuration */
    const char *default_policy;
    bool policy_paths, policy_from_env, allow_disable;
    bool light_pods;      /* pod_sandbox: light */
    bool depth_by_policy; /* depth: policy */
};

struct st_select_input { /* of the container */
    const char *id;
    const struct st_json_node *annotations; /* object, or NULL */
    const struct st_json_node *env;         /* process.env of config.json, or NULL */
};

enum st_selected_by { ST_POLICY_BY_DEFAULT, ST_POLICY_BY_ANNOTATION, ST_POLICY_BY_ENVIRONMENT };

struct st_selection {   /* strings are those of the input or the rules */
    const char *policy; /* a name, or an absolute path */
    enum st_selected_by source;
    bool disabled;        /* io.sandtrace.disable: run it unwatched */
    bool light;           /* a pod's sandbox: life cycle only */
    const char *mode;     /* "enforce", "audit", or NULL */
    const char *depth;    /* "guard", "record", "strict"; "policy": what that says; or NULL */
    const char *agent_id; /* or NULL; so with trace_id */
    const char *trace_id;
};

int st_oci_select(const struct st_select_rules *rules, const struct st_select_input *input,
                  struct st_selection *out, struct st_error *err);
