/* engine_containerd: config.toml: a runtime handler of the CRI plugin, as RuntimeClasses of Kubernetes name
 * it, with the annotations of pods and containers passed on to us. */
#include "cli/engine.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/engine_toml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct version {
    const char *number, *plugin;
};

static const struct version versions[] = {{"2", "io.containerd.grpc.v1.cri"},
                                          {"3", "io.containerd.cri.v1.runtime"}};

/* Which names of plugins hold in it. */
static int find_version(const struct st_toml_view *v, const struct version **out, struct st_error *err)
{
    const struct st_toml_item *items, *item = st_toml_find(v->doc, (const char *const[]){"version", NULL});
    size_t n = st_toml_items(v->doc, &items);

    if (n == 0) { /* nothing but comments: then we say which */
        *out = &versions[0];
        return 0;
    }
    for (size_t i = 0; item && i < sizeof(versions) / sizeof(versions[0]); i++)
        if (item->value_end - item->value_start == 1 && v->text[item->value_start] == versions[i].number[0]) {
            *out = &versions[i];
            return 0;
        }
    return st_fail(err, EINVAL,
                   "it does not say `version = 2` (or 3), so that it is of the first version, which "
                   "containerd has given up; write it anew with: containerd config migrate");
}

struct path {
    const char *names[7];
};

static struct path below(const struct version *version, const char *runtime, const char *a, const char *b)
{
    return (struct path){{"plugins", version->plugin, "containerd", "runtimes", runtime, a, b}};
}

/* On the way to our table nothing may stand that can't be added to. */
static int check_way(const struct st_toml_view *v, const struct version *version, struct st_error *err)
{
    struct path way = below(version, NULL, NULL, NULL);

    for (size_t n = 4; n > 0; n--) {
        const struct st_toml_item *item;

        way.names[n] = NULL;
        item = st_toml_find(v->doc, way.names);
        if (item && item->kind != ST_TOML_TABLE)
            return st_fail(err, EEXIST,
                           "%s is not written as a [table], so that nothing can be added to it; write it as "
                           "one first",
                           way.names[n - 1]);
    }
    return 0;
}

static bool is_true(const struct st_toml_view *v, const struct st_toml_item *item)
{
    return item && item->value_end - item->value_start == 4 &&
           memcmp(v->text + item->value_start, "true", 4) == 0;
}

/* All runtimes of a machine must make control groups in the same way. */
static bool by_systemd(const struct st_toml_view *v, const struct version *version)
{
    struct path p = below(version, "runc", "options", "SystemdCgroup");
    const char *names[8] = {0};

    memcpy(names, p.names, sizeof(p.names));
    return is_true(v, st_toml_find(v->doc, names));
}

/* Where a file names one runtime, containerd (1.6) forgets the one that it has by itself, and its CRI plugin,
 * for want of a default, does not load. */
static bool would_forget_runc(const struct st_toml_view *v, const struct version *version)
{
    return !st_toml_find_below(v->doc, below(version, NULL, NULL, NULL).names);
}

static void write_lines(struct st_buf *out, const struct st_toml_view *v, const struct version *version,
                        const char *runtime)
{
    if (would_forget_runc(v, version))
        st_buf_addf(out,
                    "# The default, which containerd forgets as soon as another is named.\n"
                    "[plugins.\"%s\".containerd.runtimes.runc]\n"
                    "  runtime_type = \"io.containerd.runc.v2\"\n",
                    version->plugin);
    st_buf_addf(out, "[plugins.\"%s\".containerd.runtimes." ST_ENGINE_NAME "]\n", version->plugin);
    st_buf_adds(out, "  runtime_type = \"io.containerd.runc.v2\"\n"
                     "  pod_annotations = [\"io.sandtrace.*\"]\n"
                     "  container_annotations = [\"io.sandtrace.*\"]\n");
    st_buf_addf(out, "  [plugins.\"%s\".containerd.runtimes." ST_ENGINE_NAME ".options]\n    BinaryName = ",
                version->plugin);
    st_json_quote(out, runtime, strlen(runtime)); /* TOML's basic strings have JSON's escapes, and more */
    st_buf_adds(out, by_systemd(v, version) ? "\n    SystemdCgroup = true\n" : "\n");
}

static const struct st_toml_item *find_ours(const struct st_toml_view *v, const struct version *version)
{
    return st_toml_find_below(v->doc, below(version, ST_ENGINE_NAME, NULL, NULL).names);
}

static char *program_of(const struct st_toml_view *v, const struct version *version)
{
    struct path p = below(version, ST_ENGINE_NAME, "options", "BinaryName");
    const char *names[8] = {0};
    const struct st_toml_item *item;

    memcpy(names, p.names, sizeof(p.names));
    item = st_toml_find(v->doc, names);
    return item ? st_toml_string(v->text, item) : NULL;
}

/* The text without our lines, of which ours is one. */
static int take_out(const struct st_toml_view *v, const struct version *version,
                    const struct st_toml_item *ours, struct st_buf *out, struct st_error *err)
{
    st_auto_toml_view rest = {0};
    size_t start, end;

    if (!st_toml_ours(v, ours->start, &start, &end))
        return st_fail(err, EEXIST,
                       "it has a runtime " ST_ENGINE_NAME " that was not put there by `sandtrace install`; "
                       "change it by hand, or take it away");
    st_toml_take(v, start, end, out);
    if (st_toml_view_open(st_buf_cstr(out), out->len, &rest, err) < 0)
        return -err->errnum;
    return find_ours(&rest, version)
               ? st_fail(err, EEXIST,
                         "some of the runtime " ST_ENGINE_NAME " stands outside of the lines that `sandtrace "
                         "install` has put there; take that away first")
               : 0;
}

/* A file of nothing, or of comments only, gets a version of its own: what others add to it later needs that
 * too, also when we are gone. */
static int add_to_nothing(const char *text, size_t len, const char *runtime, struct st_buf *out,
                          struct st_error *err)
{
    st_auto_buf begun = ST_BUF_INIT;

    st_buf_add(&begun, text, len);
    if (len && text[len - 1] != '\n')
        st_buf_addc(&begun, '\n');
    st_buf_addf(&begun, "version = %s\n", versions[0].number);
    return st_engine_containerd.add(st_buf_cstr(&begun), begun.len, runtime, out, err);
}

static int add(const char *text, size_t len, const char *runtime, struct st_buf *out, struct st_error *err)
{
    st_auto_toml_view v = {0};
    const struct version *version;
    const struct st_toml_item *ours, *items;
    st_auto_buf lines = ST_BUF_INIT, rest = ST_BUF_INIT;
    st_auto_free char *program = NULL;

    if (st_toml_view_open(text, len, &v, err) < 0 || find_version(&v, &version, err) < 0)
        return -err->errnum;
    if (st_toml_items(v.doc, &items) == 0)
        return add_to_nothing(text, len, runtime, out, err);
    ours = find_ours(&v, version);
    program = ours ? program_of(&v, version) : NULL;
    if (program && strcmp(program, runtime) == 0) {
        st_buf_add(out, text, len);
        return 0;
    }
    if (ours)
        return take_out(&v, version, ours, &rest, err) < 0
                   ? -err->errnum
                   : add(st_buf_cstr(&rest), rest.len, runtime, out, err);
    if (check_way(&v, version, err) < 0)
        return -err->errnum;
    write_lines(&lines, &v, version, runtime);
    st_toml_put(&v, len, true, st_buf_cstr(&lines), out);
    return 0;
}

static int drop(const char *text, size_t len, struct st_buf *out, struct st_error *err)
{
    st_auto_toml_view v = {0};
    const struct version *version;
    const struct st_toml_item *ours;

    if (st_toml_view_open(text, len, &v, err) < 0 || find_version(&v, &version, err) < 0)
        return -err->errnum;
    ours = find_ours(&v, version);
    if (ours)
        return take_out(&v, version, ours, out, err);
    st_buf_add(out, text, len);
    return 0;
}

static int find(const char *text, size_t len, char **path, struct st_error *err)
{
    st_auto_toml_view v = {0};
    const struct version *version;

    *path = NULL;
    if (st_toml_view_open(text, len, &v, err) < 0 || find_version(&v, &version, err) < 0)
        return -err->errnum;
    if (find_ours(&v, version)) {
        *path = program_of(&v, version);
        if (!*path)
            *path = st_xstrdup("");
    }
    return 0;
}

const struct st_engine st_engine_containerd = {
    .name = "containerd",
    .program = "containerd",
    .file = "/etc/containerd/config.toml",
    .add = add,
    .drop = drop,
    .find = find,
    .reload = "systemctl restart containerd",
    .forget = "systemctl restart containerd",
    .use = "kubectl apply -f contrib/kubernetes/runtimeclass.yaml, and runtimeClassName: sandtrace in a pod",
};
