/* facts: see facts.h. Keys are written in ascending order, as the writer demands. */
#include "oci/facts.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "oci/hook_edit.h"
#include "oci/landlock_edit.h"

#include <ocispec/runtime_spec_schema_config_schema.h>
#include <string.h>

#define MAX_TEXT 4096 /* of one string */
#define MAX_SHORT 1024
#define MAX_ITEMS 256 /* of one list */
#define MAX_ANNOTATIONS 64
#define BUDGET ((size_t)128 << 10) /* of everything; what would pass it is cut */

typedef runtime_spec_schema_config_schema spec_t;

struct facts {
    struct st_jw w;
    struct st_buf *out;
    size_t end; /* out may grow to here */
    bool truncated;
};

static void free_spec(spec_t **spec)
{
    if (*spec)
        free_runtime_spec_schema_config_schema(*spec);
}

static bool spent(struct facts *f)
{
    if (f->out->len < f->end)
        return false;
    f->truncated = true;
    return true;
}

/* A string, cut at max bytes but not within a character. */
static void put_text(struct facts *f, const char *s, size_t max)
{
    size_t len = strnlen(s, max + 1);

    if (spent(f))
        len = 0;
    if (len > max) {
        f->truncated = true;
        len = max;
        while (len && ((unsigned char)s[len] & 0xc0) == 0x80)
            len--;
    }
    st_jw_strn(&f->w, s, len);
}

static void put_member(struct facts *f, const char *key, const char *s)
{
    if (!s)
        return;
    st_jw_key(&f->w, key);
    put_text(f, s, MAX_TEXT);
}

/* How many items of a list there is room for. */
static size_t fit(struct facts *f, size_t n)
{
    if (n <= MAX_ITEMS)
        return n;
    f->truncated = true;
    return MAX_ITEMS;
}

static void put_list(struct facts *f, const char *key, char **list, size_t n)
{
    size_t fits = fit(f, n);

    st_jw_key(&f->w, key);
    st_jw_array(&f->w);
    for (size_t i = 0; i < fits && !spent(f); i++)
        put_text(f, list[i] ? list[i] : "", MAX_TEXT);
    st_jw_end(&f->w, ']');
}

static bool wanted_annotation(const char *key, size_t len)
{
    static const char *const prefixes[] = {"io.sandtrace.", "io.kubernetes."};
    bool wanted = false;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (len > strlen(prefixes[i]) && memcmp(key, prefixes[i], strlen(prefixes[i])) == 0)
            wanted = true;
    for (size_t i = 0; i < len && wanted; i++)
        if (key[i] < 0x21 || key[i] > 0x7e) /* beyond ASCII the canonical order is another one */
            wanted = false;
    return wanted && len <= 256;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(st_json_key(*(const struct st_json_node *const *)a, NULL),
                  st_json_key(*(const struct st_json_node *const *)b, NULL));
}

/* From our own tree, not libocispec's: there two keys with a NUL in them may look like one. */
static void put_annotations(struct facts *f, const struct st_json_node *annotations)
{
    const struct st_json_node *found[MAX_ANNOTATIONS];
    size_t n = 0;

    st_json_each (member, annotations) {
        size_t len = 0;
        const char *key = st_json_key(member, &len); /* NULL: an item of what is no object */

        if (!key || !wanted_annotation(key, len) || !st_json_is(member, ST_JSON_STRING))
            continue;
        if (n == MAX_ANNOTATIONS)
            f->truncated = true;
        else
            found[n++] = member;
    }
    qsort(found, n, sizeof(found[0]), by_key);
    st_jw_key(&f->w, "annotations");
    st_jw_object(&f->w);
    for (size_t i = 0; i < n && !spent(f); i++) {
        size_t len;

        st_jw_key(&f->w, st_json_key(found[i], NULL));
        put_text(f, st_json_str(found[i], &len), MAX_SHORT);
    }
    st_jw_end(&f->w, '}');
}

static void put_capabilities(struct facts *f, const runtime_spec_schema_config_schema_process_capabilities *c)
{
    st_jw_key(&f->w, "capabilities");
    if (!c) {
        st_jw_null(&f->w);
        return;
    }
    st_jw_object(&f->w);
    put_list(f, "ambient", c->ambient, c->ambient_len);
    put_list(f, "bounding", c->bounding, c->bounding_len);
    put_list(f, "effective", c->effective, c->effective_len);
    put_list(f, "inheritable", c->inheritable, c->inheritable_len);
    put_list(f, "permitted", c->permitted, c->permitted_len);
    st_jw_end(&f->w, '}');
}

/* Names only. An entry without `=` is no name: it may be anything. */
static void put_env_names(struct facts *f, char **env, size_t n)
{
    size_t fits = fit(f, n);

    st_jw_key(&f->w, "env_names");
    st_jw_array(&f->w);
    for (size_t i = 0; i < fits && !spent(f); i++) {
        size_t len = env[i] ? strcspn(env[i], "=") : 0;

        if (!env[i] || env[i][len] != '=' || len > MAX_SHORT)
            continue;
        st_jw_strn(&f->w, env[i], len);
    }
    st_jw_end(&f->w, ']');
}

static void put_image(struct facts *f, const struct st_json_node *annotations)
{
    static const char *const names[] = {"io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName",
                                        "io.kubernetes.cri-o.Image", "org.opencontainers.image.ref.name",
                                        "org.opencontainers.image.title"};
    const char *image = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !image; i++)
        image = st_json_str(st_json_get(annotations, names[i]), NULL);
    st_jw_key(&f->w, "image");
    if (image)
        put_text(f, image, MAX_SHORT);
    else
        st_jw_null(&f->w);
}

static void put_mounts(struct facts *f, runtime_spec_schema_defs_mount **mounts, size_t n)
{
    size_t fits = fit(f, n);

    st_jw_key(&f->w, "mounts");
    st_jw_array(&f->w);
    for (size_t i = 0; i < fits && !spent(f); i++) {
        if (!mounts[i])
            continue;
        st_jw_object(&f->w);
        put_member(f, "destination", mounts[i]->destination);
        put_list(f, "options", mounts[i]->options, mounts[i]->options_len);
        put_member(f, "source", mounts[i]->source);
        put_member(f, "type", mounts[i]->type);
        st_jw_end(&f->w, '}');
    }
    st_jw_end(&f->w, ']');
}

static void put_namespaces(struct facts *f, const runtime_spec_schema_config_linux *lx)
{
    size_t fits = fit(f, lx ? lx->namespaces_len : 0);

    st_jw_key(&f->w, "namespaces");
    st_jw_array(&f->w);
    for (size_t i = 0; i < fits && !spent(f); i++) {
        if (!lx->namespaces[i])
            continue;
        st_jw_object(&f->w);
        put_member(f, "path", lx->namespaces[i]->path);
        put_member(f, "type", lx->namespaces[i]->type);
        st_jw_end(&f->w, '}');
    }
    st_jw_end(&f->w, ']');
}

static void put_seccomp(struct facts *f, const runtime_spec_schema_config_linux_seccomp *s)
{
    st_jw_key(&f->w, "seccomp");
    if (!s) {
        st_jw_null(&f->w);
        return;
    }
    st_jw_object(&f->w);
    put_member(f, "default_action", s->default_action);
    st_jw_key(&f->w, "listener");
    if (s->listener_path)
        put_text(f, s->listener_path, MAX_TEXT);
    else
        st_jw_null(&f->w);
    st_jw_kint(&f->w, "rules", (int64_t)s->syscalls_len);
    st_jw_end(&f->w, '}');
}

/* Into a buffer of its own: it stands behind `truncated`, which must know of it. */
static void render_user(struct facts *f, const runtime_spec_schema_config_schema_process_user *u)
{
    size_t fits = fit(f, u->additional_gids_len);

    st_jw_object(&f->w);
    st_jw_key(&f->w, "additional_gids");
    st_jw_array(&f->w);
    for (size_t i = 0; i < fits; i++)
        st_jw_int(&f->w, u->additional_gids[i]);
    st_jw_end(&f->w, ']');
    st_jw_kint(&f->w, "gid", u->gid);
    st_jw_kint(&f->w, "uid", u->uid);
    put_member(f, "username", u->username);
    st_jw_end(&f->w, '}');
}

static void put_user(struct facts *f, const runtime_spec_schema_config_schema_process_user *u)
{
    st_auto_buf text = ST_BUF_INIT;
    struct facts apart = {.out = &text, .end = BUDGET};

    st_jw_init(&apart.w, &text);
    if (u)
        render_user(&apart, u);
    else
        st_jw_null(&apart.w);
    if (f->truncated || apart.truncated)
        st_jw_kbool(&f->w, "truncated", true);
    st_jw_key(&f->w, "user");
    st_jw_raw(&f->w, text.data, text.len);
}

static void put_rootfs(struct facts *f, const spec_t *spec, const char *bundle)
{
    const char *path = spec->root ? spec->root->path : NULL;
    st_auto_free char *absolute = NULL;

    if (path && path[0] != '/' && bundle)
        absolute = st_xasprintf("%s/%s", bundle, path);
    put_member(f, "rootfs", absolute ? absolute : path);
}

/* Words of ours before the container's own command. */
static size_t count_ours(const struct st_oci_config *config,
                         const runtime_spec_schema_config_schema_process *p)
{
    const char *note = st_oci_hook_argument(config, ST_OCI_FLOOR_OPTION);
    st_auto_oci_landlock words = {0};

    return note && st_oci_landlock_by_note(note, 0, &words, NULL) == 1
               ? st_oci_landlock_count(p->args, p->args_len)
               : 0;
}

static void put_spec(struct facts *f, const struct st_oci_config *config, const spec_t *spec,
                     const char *bundle)
{
    static const runtime_spec_schema_config_schema_process no_process;
    const runtime_spec_schema_config_schema_process *p = spec->process ? spec->process : &no_process;
    const struct st_json_node *annotations = st_json_get(st_oci_config_root(config), "annotations");
    size_t own = count_ours(config, p);

    put_annotations(f, annotations);
    put_member(f, "apparmor_profile", p->apparmor_profile);
    put_list(f, "args", own ? p->args + own : p->args, p->args_len - own);
    put_capabilities(f, p->capabilities);
    put_member(f, "cgroups_path", spec->linux ? spec->linux->cgroups_path : NULL);
    put_member(f, "cwd", p->cwd);
    put_env_names(f, p->env, p->env_len);
    put_member(f, "hostname", spec->hostname);
    put_image(f, annotations);
    put_mounts(f, spec->mounts, spec->mounts_len);
    put_namespaces(f, spec->linux);
    st_jw_kbool(&f->w, "no_new_privileges", p->no_new_privileges);
    st_jw_kbool(&f->w, "readonly_root", spec->root && spec->root->readonly);
    put_rootfs(f, spec, bundle);
    put_seccomp(f, spec->linux ? spec->linux->seccomp : NULL);
    put_member(f, "selinux_label", p->selinux_label);
    put_user(f, p->user);
}

void st_oci_facts(const struct st_oci_config *config, const char *bundle, struct st_buf *out)
{
    const struct st_json_node *annotations = st_json_get(st_oci_config_root(config), "annotations");
    struct facts f = {.out = out, .end = out->len + BUDGET};
    struct parser_context context = {0};
    st_auto_free parser_error error = NULL;
    size_t len;
    __attribute__((cleanup(free_spec))) spec_t *spec =
        runtime_spec_schema_config_schema_parse_data(st_oci_config_text(config, &len), &context, &error);

    st_jw_init(&f.w, out);
    st_jw_object(&f.w);
    if (spec) {
        put_spec(&f, config, spec, bundle);
    } else {
        put_annotations(&f, annotations);
        put_image(&f, annotations);
        st_jw_kbool(&f.w, "incomplete", true);
        put_member(&f, "reason", error ? error : "config.json was not understood");
    }
    st_jw_end(&f.w, '}');
}
