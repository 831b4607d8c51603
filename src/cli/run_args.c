/* run_args: see run_args.h. */
#include "cli/run_args.h"

#include "base/mem.h"
#include "base/path.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int st_run_parse_network(const char *text, enum st_run_network *out, struct st_error *err)
{
    static const char *const names[] = {"none", "user", "host"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], text) == 0) {
            *out = (enum st_run_network)i;
            return 0;
        }
    return st_fail(err, EINVAL, "'%s' is none of none, user, host", text);
}

int st_run_parse_depth(const char *text, const char **out, struct st_error *err)
{
    static const char *const names[] = {"guard", "record", "strict"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], text) == 0) {
            *out = names[i];
            return 0;
        }
    return st_fail(err, EINVAL, "'%s' is none of guard, record, strict", text);
}

/* ---- mounts ---- */

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

int st_run_check_target(const char *target, struct st_error *err)
{
    static const char *const own[] = {"/proc", "/sys", "/dev"};
    static const char *const whole[] = {"/",    "/usr",   "/etc",   "/bin",   "/sbin",
                                        "/lib", "/lib32", "/lib64", "/libx32"};
    const char *fault = st_path_fault(target);

    if (fault)
        return st_fail(err, EINVAL, "'%s' in the container: %s", target, fault);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (is_below(target, own[i]))
            return st_fail(err, EINVAL, "%s in the container is its own; choose another place", target);
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (strcmp(target, whole[i]) == 0)
            return st_fail(err, EINVAL, "%s in the container is what it stands on; choose a place below it",
                           target);
    return 0;
}

static int set_target(struct st_run_bind *b, const char *text, size_t len, struct st_error *err)
{
    char normal[ST_PATH_LIMIT + 1];
    size_t n = st_path_normalise(text, len, normal, ST_PATH_LIMIT);

    if (n == 0)
        return st_fail(err, EINVAL, "'%.*s' is no absolute path", (int)len, text);
    normal[n] = '\0';
    if (st_run_check_target(normal, err) < 0)
        return -err->errnum;
    b->target = st_xstrdup(normal);
    return 0;
}

static int parse_bind(struct st_run_bind *b, const char *text, struct st_error *err)
{
    size_t source = strcspn(text, ":");
    const char *rest = text[source] ? text + source + 1 : NULL;
    size_t target = rest ? strcspn(rest, ":") : 0;

    if (source == 0)
        return st_fail(err, EINVAL, "what is to be bound? SRC[:DST][:ro] is wanted");
    b->source = st_xstrndup(text, source);
    if (!rest)
        return 0;
    if (rest[target] == '\0' && (strcmp(rest, "ro") == 0 || strcmp(rest, "rw") == 0)) {
        b->readonly = rest[1] == 'o';
        return 0;
    }
    if (rest[target] && strcmp(rest + target, ":ro") != 0 && strcmp(rest + target, ":rw") != 0)
        return st_fail(err, EINVAL, "'%s' behind the second colon is neither ro nor rw", rest + target + 1);
    b->readonly = rest[target] && rest[target + 2] == 'o';
    return set_target(b, rest, target, err);
}

int st_run_add_bind(struct st_run_args *a, const char *text, struct st_error *err)
{
    struct st_run_bind b = {0};
    int rc = parse_bind(&b, text, err);

    if (rc < 0) {
        free(b.source);
        free(b.target);
        return rc;
    }
    a->binds = st_xrealloc(a->binds, (a->n_binds + 1) * sizeof(*a->binds));
    a->binds[a->n_binds++] = b;
    return 0;
}

/* ---- the rest ---- */

int st_run_add_env(struct st_run_args *a, const char *text, struct st_error *err)
{
    size_t name = strcspn(text, "=");

    if (name == 0)
        return st_fail(err, EINVAL, "'%s' has no name before the =", text);
    a->env = st_xrealloc(a->env, (a->n_env + 1) * sizeof(*a->env));
    a->env[a->n_env++] = text;
    return 0;
}

static const char *parse_id(const char *text, unsigned *out)
{
    uint64_t n = 0;

    if (*text < '0' || *text > '9')
        return NULL;
    for (; *text >= '0' && *text <= '9'; text++) {
        n = n * 10 + (unsigned)(*text - '0');
        if (n >= UINT32_MAX) /* the last one means nobody */
            return NULL;
    }
    *out = (unsigned)n;
    return text;
}

bool st_run_parse_ids(const char *text, unsigned *uid, unsigned *gid, bool *has_gid)
{
    const char *rest = parse_id(text, uid);

    *has_gid = rest && *rest == ':';
    if (*has_gid)
        rest = parse_id(rest + 1, gid);
    return rest && *rest == '\0';
}

void st_run_args_free(struct st_run_args *a)
{
    for (size_t i = 0; i < a->n_binds; i++) {
        free(a->binds[i].source);
        free(a->binds[i].target);
    }
    free(a->binds);
    free(a->env);
    *a = (struct st_run_args){0};
}
