/* select: see select.h. */
#include "oci/select.h"

#include "base/path.h"
#include "base/suggest.h"
#include "model/policy_name.h"

#include <errno.h>
#include <string.h>

#define ANNOTATION_POLICY "io.sandtrace.policy"
#define ANNOTATION_MODE "io.sandtrace.mode"
#define ANNOTATION_DEPTH "io.sandtrace.depth"
#define ANNOTATION_AGENT "io.sandtrace.agent-id"
#define ANNOTATION_TRACE "io.sandtrace.trace-id"
#define ANNOTATION_DISABLE "io.sandtrace.disable"
#define PREFIX "io.sandtrace."
#define VARIABLE "SANDTRACE_POLICY"
#define MAX_ID 256

static const char *const known[] = {ANNOTATION_POLICY, ANNOTATION_MODE,  ANNOTATION_DEPTH,
                                    ANNOTATION_AGENT,  ANNOTATION_TRACE, ANNOTATION_DISABLE};

/* A misspelt request of ours would otherwise be a silent one. */
static int check_names(const struct st_json_node *annotations, struct st_error *err)
{
    if (annotations && !st_json_is(annotations, ST_JSON_OBJECT) && !st_json_is(annotations, ST_JSON_NULL))
        return st_fail(err, EINVAL, "annotations: not an object of names and texts");
    st_json_each (member, annotations) {
        size_t len, n = sizeof(known) / sizeof(known[0]), i = 0;
        const char *name = st_json_key(member, &len), *near;

        if (len < strlen(PREFIX) || memcmp(name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        while (i < n && (strlen(known[i]) != len || memcmp(known[i], name, len) != 0))
            i++;
        if (i < n)
            continue;
        near = st_suggest(name, known, n);
        return st_fail(err, EINVAL, "unknown annotation `%.100s`; %s%s", name,
                       near ? "did you mean " : "sandtrace-runtime(8) lists those that there are",
                       near ? near : "");
    }
    return 0;
}

/* The text of an annotation, or NULL in *out where it is absent. */
static int annotation(const struct st_json_node *annotations, const char *name, const char **out,
                      struct st_error *err)
{
    const struct st_json_node *node = st_json_get(annotations, name);

    *out = st_json_str(node, NULL);
    if (node && !*out)
        return st_fail(err, EINVAL, "annotation %s: not plain text", name);
    return 0;
}

/* An identifier for people and programs: printable ASCII, so that it looks the same wherever it is shown. */
static int identifier(const struct st_json_node *annotations, const char *name, const char **out,
                      struct st_error *err)
{
    int rc = annotation(annotations, name, out, err);
    size_t len = 0;

    if (rc < 0 || !*out)
        return rc;
    while ((*out)[len] >= 0x20 && (*out)[len] <= 0x7e)
        len++;
    if (len == 0 || len > MAX_ID || (*out)[len] != '\0')
        return st_fail(err, EINVAL, "annotation %s: write 1 to %d printable ASCII characters", name, MAX_ID);
    return 0;
}

/* What somebody asked for as the policy: where says how, for the message. */
static int check_policy(const struct st_select_rules *rules, const char *where, const char *value,
                        struct st_error *err)
{
    if (value[0] == '/' && !rules->policy_paths)
        return st_fail(err, EPERM,
                       "%s: `%.100s` is a path, which the configuration does not allow; "
                       "write the policy's name or set policy_paths: true",
                       where, value);
    if (value[0] == '/' && st_path_fault(value))
        return st_fail(err, EINVAL, "%s: `%.100s` can not be used; %s", where, value, st_path_fault(value));
    if (value[0] != '/' && !st_policy_name_ok(st_str(value)))
        return st_fail(err, EINVAL, "%s: `%.100s` is no policy's name; %s", where, value,
                       ST_POLICY_NAME_HINT);
    return 0;
}

/* SANDTRACE_POLICY=… in the container's environment. Twice is an error: programs differ on which one counts.
 */
static int from_environment(const struct st_json_node *env, const char **out, struct st_error *err)
{
    *out = NULL;
    st_json_each (item, env) {
        size_t len, n = strlen(VARIABLE "=");
        const char *entry = st_json_str(item, &len);

        if (!entry || len < n || memcmp(entry, VARIABLE "=", n) != 0)
            continue;
        if (*out)
            return st_fail(err, EINVAL, "environment variable " VARIABLE ": given twice; give it once");
        if (strlen(entry) != len)
            return st_fail(err, EINVAL, "environment variable " VARIABLE ": not plain text");
        *out = entry + n;
    }
    return 0;
}

static int choose_policy(const struct st_select_rules *rules, const struct st_select_input *input,
                         struct st_selection *out, struct st_error *err)
{
    const char *asked;
    int rc = annotation(input->annotations, ANNOTATION_POLICY, &asked, err);

    if (rc == 0 && asked) {
        out->policy = asked;
        out->source = ST_POLICY_BY_ANNOTATION;
        return check_policy(rules, "annotation " ANNOTATION_POLICY, asked, err);
    }
    if (rc == 0 && rules->policy_from_env)
        rc = from_environment(input->env, &asked, err);
    if (rc == 0 && asked) {
        out->policy = asked;
        out->source = ST_POLICY_BY_ENVIRONMENT;
        return check_policy(rules, "environment variable " VARIABLE, asked, err);
    }
    out->policy = rules->default_policy;
    out->source = ST_POLICY_BY_DEFAULT;
    return rc;
}

static int choose_mode(const struct st_json_node *annotations, const char **out, struct st_error *err)
{
    int rc = annotation(annotations, ANNOTATION_MODE, out, err);

    if (rc == 0 && *out && strcmp(*out, "enforce") != 0 && strcmp(*out, "audit") != 0)
        return st_fail(err, EINVAL, "annotation " ANNOTATION_MODE ": `%.100s`; write enforce or audit", *out);
    return rc;
}

static int choose_depth(const struct st_json_node *annotations, const char **out, struct st_error *err)
{
    int rc = annotation(annotations, ANNOTATION_DEPTH, out, err);

    if (rc == 0 && *out && strcmp(*out, "guard") != 0 && strcmp(*out, "record") != 0 &&
        strcmp(*out, "strict") != 0)
        return st_fail(err, EINVAL,
                       "annotation " ANNOTATION_DEPTH ": `%.100s`; write guard, record or strict", *out);
    return rc;
}

static int choose_disable(const struct st_select_rules *rules, const struct st_json_node *annotations,
                          bool *out, struct st_error *err)
{
    const char *asked;
    int rc = annotation(annotations, ANNOTATION_DISABLE, &asked, err);

    if (rc < 0 || !asked)
        return rc;
    *out = strcmp(asked, "true") == 0;
    if (!*out && strcmp(asked, "false") != 0)
        return st_fail(err, EINVAL, "annotation " ANNOTATION_DISABLE ": `%.100s`; write true or false",
                       asked);
    if (*out && !rules->allow_disable)
        return st_fail(err, EPERM,
                       "annotation " ANNOTATION_DISABLE
                       ": the configuration does not allow an unwatched container; "
                       "remove the annotation or set allow_disable: true");
    return 0;
}

/* A pod's own sandbox names itself as its sandbox; a container of the pod can only name the sandbox. */
static bool is_pod_sandbox(const struct st_select_input *input)
{
    static const struct {
        const char *type, *id;
    } dialects[] = {
        {"io.kubernetes.cri.container-type", "io.kubernetes.cri.sandbox-id"},
        {"io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri-o.SandboxID"},
    };

    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
        const char *type = st_json_str(st_json_get(input->annotations, dialects[i].type), NULL);
        const char *id = st_json_str(st_json_get(input->annotations, dialects[i].id), NULL);

        if (type && id && strcmp(type, "sandbox") == 0 && strcmp(id, input->id) == 0)
            return true;
    }
    return false;
}

int st_oci_select(const struct st_select_rules *rules, const struct st_select_input *input,
                  struct st_selection *out, struct st_error *err)
{
    struct st_selection s = {0};
    int rc = check_names(input->annotations, err);

    if (rc == 0)
        rc = choose_policy(rules, input, &s, err);
    if (rc == 0)
        rc = choose_mode(input->annotations, &s.mode, err);
    if (rc == 0)
        rc = choose_depth(input->annotations, &s.depth, err);
    if (rc == 0)
        rc = choose_disable(rules, input->annotations, &s.disabled, err);
    if (rc == 0)
        rc = identifier(input->annotations, ANNOTATION_AGENT, &s.agent_id, err);
    if (rc == 0)
        rc = identifier(input->annotations, ANNOTATION_TRACE, &s.trace_id, err);
    if (rc < 0)
        return rc;
    if (!s.depth && rules->depth_by_policy)
        s.depth = "policy";
    s.light = rules->light_pods && is_pod_sandbox(input);
    *out = s;
    return 0;
}
