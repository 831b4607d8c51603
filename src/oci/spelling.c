/* spelling: see spelling.h. */
#include "oci/spelling.h"

#include <errno.h>
#include <string.h>

/* Objects that are Go structs in runc, by their path (`*`: every member or element), and the keys they have.
 * Maps such as annotations are not here: their keys are data, and exact in both readings. */
static const struct shape {
    const char *path[5];
    const char *keys;
} shapes[] = {
    {{NULL},
     "ociVersion process root hostname domainname mounts hooks annotations linux solaris windows vm zos "
     "freebsd"},
    {{"process"},
     "terminal consoleSize user args commandLine env cwd capabilities rlimits noNewPrivileges "
     "apparmorProfile "
     "oomScoreAdj scheduler selinuxLabel ioPriority execCPUAffinity"},
    {{"process", "user"}, "uid gid umask additionalGids username"},
    {{"process", "capabilities"}, "bounding effective inheritable permitted ambient"},
    {{"root"}, "path readonly"},
    {{"mounts", "*"}, "destination type source options uidMappings gidMappings"},
    {{"hooks"}, "prestart createRuntime createContainer startContainer poststart poststop"},
    {{"hooks", "*", "*"}, "path args env timeout"},
    {{"linux"},
     "uidMappings gidMappings sysctl resources cgroupsPath namespaces devices netDevices seccomp "
     "rootfsPropagation "
     "maskedPaths readonlyPaths mountLabel intelRdt memoryPolicy personality timeOffsets"},
    {{"linux", "namespaces", "*"}, "type path"},
    {{"linux", "resources"}, "devices"}, /* of the others nobody here asks, and some write CPU */
    {{"linux", "resources", "devices", "*"}, "allow type major minor access"},
    {{"linux", "seccomp"},
     "defaultAction defaultErrnoRet architectures flags listenerPath listenerMetadata syscalls"},
    {{"linux", "seccomp", "syscalls", "*"}, "names action errnoRet args"},
};

/* One folded character at s: ASCII in lower case, the two letters that fold to ASCII, or -1. */
static int fold(const char *s, size_t left, size_t *len)
{
    unsigned char c = (unsigned char)s[0];

    *len = 1;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 'a';
    if (c < 0x80)
        return c;
    if (left >= 2 && memcmp(s, "\xc5\xbf", 2) == 0) { /* LATIN SMALL LETTER LONG S */
        *len = 2;
        return 's';
    }
    if (left >= 3 && memcmp(s, "\xe2\x84\xaa", 3) == 0) { /* KELVIN SIGN */
        *len = 3;
        return 'k';
    }
    return -1;
}

static bool fold_equal(const char *key, size_t len, const char *known, size_t known_len)
{
    size_t i = 0, k = 0;

    while (i < len && k < known_len) {
        size_t a, b;
        int c = fold(key + i, len - i, &a);

        if (c < 0 || c != fold(known + k, known_len - k, &b))
            return false;
        i += a;
        k += b;
    }
    return i == len && k == known_len;
}

static int check_key(const struct st_json_node *member, const char *keys, const char *text,
                     struct st_error *err)
{
    size_t len, n;
    const char *key = st_json_key(member, &len);

    for (const char *known = keys; *known; known += n, known += *known == ' ') {
        unsigned line, column;

        n = strcspn(known, " ");
        if (len == n && memcmp(key, known, n) == 0)
            return 0;
        if (!fold_equal(key, len, known, n))
            continue;
        st_json_place(text, st_json_outer_start(member), &line, &column);
        return st_fail(
            err, EINVAL,
            "line %u, column %u: key `%.*s`: runc would take it for `%.*s`, other runtimes would not; "
            "write `%.*s`",
            line, column, (int)len, key, (int)n, known, (int)n, known);
    }
    return 0;
}

static int check_shape(const struct st_json_node *node, const char *const path[], const char *keys,
                       const char *text, struct st_error *err)
{
    int rc = 0;

    if (!path[0]) {
        if (st_json_is(node, ST_JSON_OBJECT))
            st_json_each (member, node)
                if ((rc = check_key(member, keys, text, err)) < 0)
                    return rc;
        return 0;
    }
    if (strcmp(path[0], "*") != 0) {
        node = st_json_get(node, path[0]);
        return node ? check_shape(node, path + 1, keys, text, err) : 0;
    }
    st_json_each (child, node)
        if ((rc = check_shape(child, path + 1, keys, text, err)) < 0)
            return rc;
    return 0;
}

int st_oci_check_spelling(const struct st_json_node *root, const char *text, struct st_error *err)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        int rc = check_shape(root, shapes[i].path, shapes[i].keys, text, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

int st_oci_check_process_spelling(const struct st_json_node *process, const char *text, struct st_error *err)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (shapes[i].path[0] && strcmp(shapes[i].path[0], "process") == 0 &&
            check_shape(process, shapes[i].path + 1, shapes[i].keys, text, err) < 0)
            return -err->errnum;
    return 0;
}
