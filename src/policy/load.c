/* load: finds the files, follows `extends`, reads each whole. A policy loads whole or not at all. */
#include "policy/load.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "model/policy_name.h"
#include "policy/find.h"
#include "policy/lint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)16 << 20)
#define MAX_GENERIC 1024

static const struct st_yaml_limits limits = {
    .max_bytes = MAX_BYTES, .max_depth = 12, .max_nodes = 1u << 20, .max_scalar = 8192};

struct loader {
    const struct st_policy_source *source;
    struct st_diagnostics *diags;
    struct loaded *out;
};

static int read_layer(struct loader *l, const struct layer *layer, const char *text, size_t len);
static void check_ids(struct loader *l, const struct st_diag_file *file);

/* ---- extends ---- */

static void refuse_cycle(struct loader *l, struct reader *r, const struct st_yaml_node *node,
                         const struct layer *layer, const char *path)
{
    st_auto_buf chain = ST_BUF_INIT;

    (void)l;
    for (const struct layer *up = layer; up; up = up->above)
        if (up->path) {
            st_auto_buf longer = ST_BUF_INIT;

            st_buf_addf(&longer, "%s → %s", up->path, st_buf_cstr(&chain));
            st_buf_clear(&chain);
            st_buf_adds(&chain, st_buf_cstr(&longer));
        }
    complain(r, node, "take one `extends` of the ring out", "`extends` goes in a circle: %s%s",
             st_buf_cstr(&chain), path);
}

static void read_base(struct loader *l, struct reader *r, const struct layer *layer,
                      const struct st_yaml_node *node, const char *path, bool by_path)
{
    st_auto_buf text = ST_BUF_INIT;
    struct st_error err = {0};
    struct stat sb = {0};
    struct layer base = {.above = layer, .path = path, .by_path = by_path, .depth = layer->depth + 1};
    int rc = l->source->untrusted_ok ? st_read_file(path, MAX_BYTES, &text, &err)
                                     : st_read_trusted_file(path, MAX_BYTES, &text, &err);

    if (rc < 0 || stat(path, &sb) < 0) {
        complain(r, node, NULL, "the policy that this one extends can't be read: %s", err.msg);
        return;
    }
    base.dev = sb.st_dev;
    base.ino = sb.st_ino;
    for (const struct layer *up = layer; up; up = up->above)
        if (st_same_file(up, &sb)) {
            refuse_cycle(l, r, node, layer, path);
            return;
        }
    if (base.depth >= MAX_LAYERS) {
        complain(r, node, "put them together", "more than %d policies extend one another", MAX_LAYERS);
        return;
    }
    read_layer(l, &base, st_buf_cstr(&text), text.len);
}

/* True: the settings of the base are in place. */
static bool take_extends(struct loader *l, struct reader *r, const struct layer *layer,
                         const struct st_yaml_node *node)
{
    st_auto_buf right = ST_BUF_INIT;
    st_auto_free char *path = NULL;
    size_t errors = l->diags->errors;
    bool beside = false;
    const char *name;

    if (!st_take_string(r, node, &name))
        return false;
    if (!st_policy_name_ok(st_str(name))) {
        complain(r, node, ST_POLICY_NAME_HINT, "`extends` names a policy, and `%.80s` can't be one", name);
        return false;
    }
    path = st_find_base(l->source, layer, name, &beside);
    if (!path) {
        st_suggest_policy(l->source, name, true, &right);
        complain(r, node, st_buf_cstr(&right), "there is no policy `%s`", name);
        return false;
    }
    read_base(l, r, layer, node, st_arena_strndup(&l->out->arena, path, strlen(path)), beside);
    return l->diags->errors == errors;
}

/* ---- one file ---- */

static const char *stem_of(struct st_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');

    return st_arena_strndup(arena, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

/* A policy is asked for by the name of its file; the trace has the name that it gives itself. */
static void check_name(struct reader *r, struct settings *s, const struct layer *layer,
                       const struct st_yaml_node *node)
{
    const char *stem = stem_of(r->arena, layer->path);

    if (!s->name)
        s->name = stem;
    else if (node && strcmp(s->name, stem) != 0 && strchr(layer->path, '/'))
        warn(r, node, "give both the same", "the file is called %s", stem);
}

static void read_rules(struct loader *l, struct reader *r, const struct st_yaml_node *root, enum form form)
{
    struct rules own = {0}, *base = &l->out->rules;

    if (form == FORM_WRITES)
        st_parse_writes_form(r, root, &l->out->settings, &own);
    else
        st_yaml_each (list, root)
            if (strcmp(list->key, "rules") == 0) /* one, or several and an error about that */
                st_parse_rules(r, list, form, &own);
    for (size_t i = 0; i < base->n; i++) /* those of the base come after ours */
        *st_add_rule(&own) = base->items[i];
    free(base->items);
    *base = own;
}

static void read_root(struct loader *l, struct reader *r, const struct layer *layer,
                      const struct st_yaml_node *root)
{
    const struct st_yaml_node *extends = st_yaml_get(root, "extends");
    struct settings *s = &l->out->settings;
    enum form form;

    if (!st_is_mapping(r, root))
        return;
    form = st_parse_form(r, root);
    if (form == FORM_OWN && extends) {
        if (!take_extends(l, r, layer, extends))
            st_settings_init(s, form); /* go on: there may be more to say */
    } else {
        st_settings_init(s, form);
    }
    s->name = NULL; /* a base's name and description are not ours */
    s->description = NULL;
    if (form != FORM_WRITES)
        st_parse_settings(r, root, form, s);
    read_rules(l, r, root, form);
}

static int read_layer(struct loader *l, const struct layer *layer, const char *text, size_t len)
{
    struct loaded *out = l->out;
    struct st_diag_file file = {.name = layer->path, .text = text, .len = len};
    struct reader r = {.arena = &out->arena, .diags = l->diags, .file = &file};
    size_t errors = l->diags->errors;
    st_auto_yaml doc = st_diag_yaml(l->diags, &file, &limits);
    size_t slot = out->n_files++;

    out->files[slot] = layer->path;
    out->texts[slot] = (struct st_str){st_arena_strndup(&out->arena, text, len), len};
    st_sha256(text, len, out->digests[slot]);
    if (!doc || (!st_yaml_root(doc) && l->diags->errors > errors))
        return -EINVAL;
    if (!st_yaml_root(doc) || st_yaml_is_null(st_yaml_root(doc))) {
        st_diag_error(l->diags, &file, (struct st_diag_at){{0, 0}, 0},
                      "write schema_version: \"2.0\" and rules; sandtrace-policy(5) has an example",
                      "the policy is empty");
        return -EINVAL;
    }
    read_root(l, &r, layer, st_yaml_root(doc));
    check_ids(l, &file);
    st_arena_free(&r.scratch);
    check_name(&r, &out->settings, layer, st_yaml_get(st_yaml_root(doc), "name"));
    return 0;
}

/* ---- the whole ---- */

/* An error for each id that stands twice. Sorting keeps it quick for tables of any length. */
static int by_id(const void *a, const void *b)
{
    const struct st_rule *const *x = a, *const *y = b;
    int c = strcmp((*x)->id, (*y)->id);

    return c ? c : (*x > *y) - (*x < *y);
}

static bool is_of(const struct st_rule *rule, const struct st_diag_file *file)
{
    return strcmp(rule->at.file, file->name) == 0;
}

/* Said where the file that is at hand has one of the two; those it extends have been looked at before. */
static void check_ids(struct loader *l, const struct st_diag_file *file)
{
    const struct rules *rules = &l->out->rules;
    const struct st_rule **sorted = st_xcalloc(rules->n + 1, sizeof(*sorted));
    size_t n = 0;

    for (size_t i = 0; i < rules->n; i++)
        if (rules->items[i].id)
            sorted[n++] = &rules->items[i];
    if (n)
        qsort(sorted, n, sizeof(*sorted), by_id);
    for (size_t i = 1; i < n; i++) {
        bool ours = is_of(sorted[i], file);
        const struct st_rule *here = ours ? sorted[i] : sorted[i - 1], *there = sorted[i - ours];

        if (strcmp(here->id, there->id) != 0 || !is_of(here, file))
            continue;
        st_diag_error(l->diags, file, (struct st_diag_at){{here->at.line, here->at.column}, 1},
                      "give each rule its own id: the trace names the rule by it",
                      "the id `%.100s` is taken by the rule at %s:%u", here->id, there->at.file,
                      there->at.line);
    }
    free(sorted);
}

/* Such rules are tried one after another, for every event. */
static void check_generic(struct loader *l, const struct st_diag_file *top)
{
    const struct rules *rules = &l->out->rules;
    size_t n = 0;

    for (size_t i = 0; i < rules->n; i++)
        n += rules->items[i].type >= ST_RULE_MATCH;
    if (n > MAX_GENERIC)
        st_diag_error(l->diags, top, (struct st_diag_at){{0, 0}, 0}, "use the other types where they will do",
                      "more than %d rules of type match, threshold or sequence", MAX_GENERIC);
}

static int load_text(const struct layer *top, const char *text, size_t len,
                     const struct st_policy_source *source, struct st_policy **out,
                     struct st_diagnostics *diags, struct st_error *err)
{
    static const struct st_policy_source nowhere = {0};
    st_auto_diag own = {0};
    struct loaded loaded = {0};
    struct loader l = {.source = source ? source : &nowhere, .diags = diags ? diags : &own, .out = &loaded};
    struct st_diag_file file = {top->path, text, len};
    size_t errors = l.diags->errors;
    struct layer layer = *top;

    layer.path = st_arena_strndup(&loaded.arena, top->path, strlen(top->path));
    read_layer(&l, &layer, text, len);
    check_generic(&l, &file);
    st_diag_sort(l.diags);
    if (l.diags->errors > errors) {
        free(loaded.rules.items);
        st_arena_free(&loaded.arena);
        return st_diag_fail(l.diags, EINVAL, err);
    }
    *out = st_policy_compile(&loaded);
    if (diags) { /* who only wants to run it does not read warnings */
        st_policy_lint(*out, &file, diags);
        st_diag_sort(diags);
    }
    return 0;
}

int st_policy_parse(const char *name, const char *text, size_t len, const struct st_policy_source *source,
                    struct st_policy **out, struct st_diagnostics *diags, struct st_error *err)
{
    struct layer top = {.path = name};

    return load_text(&top, text, len, source, out, diags, err);
}

static int not_found(const char *name, const struct st_policy_source *source, struct st_diagnostics *diags,
                     struct st_error *err)
{
    st_auto_buf right = ST_BUF_INIT;
    struct st_diag_file file = {.name = name};

    st_suggest_policy(source, name, false, &right);
    st_diag_error(diags, &file, (struct st_diag_at){{0, 0}, 0}, st_buf_cstr(&right),
                  "there is no policy of this name");
    return st_fail(err, ENOENT, "there is no policy `%s`; %s", name, st_buf_cstr(&right));
}

int st_policy_load(const char *name_or_path, const struct st_policy_source *source, struct st_policy **out,
                   struct st_diagnostics *diags, struct st_error *err)
{
    st_auto_free char *found = NULL;
    st_auto_buf text = ST_BUF_INIT;
    struct layer top = {.path = name_or_path, .by_path = true};
    struct stat sb;
    int rc;

    if (!strchr(name_or_path, '/')) {
        struct st_diag_file file = {.name = name_or_path};

        if (!st_policy_name_ok(st_str(name_or_path))) {
            st_diag_error(diags, &file, (struct st_diag_at){{0, 0}, 0}, ST_POLICY_NAME_HINT,
                          "this can't be the name of a policy");
            return st_fail(err, EINVAL, "`%.80s` can't be the name of a policy; %s", name_or_path,
                           ST_POLICY_NAME_HINT);
        }
        found = st_find_policy(source, name_or_path, NULL);
        if (!found)
            return not_found(name_or_path, source, diags, err);
        top.path = found;
        top.by_path = false;
    }
    rc = source->untrusted_ok ? st_read_file(top.path, MAX_BYTES, &text, err)
                              : st_read_trusted_file(top.path, MAX_BYTES, &text, err);
    if (rc < 0) {
        struct st_diag_file file = {.name = top.path};

        st_diag_error(diags, &file, (struct st_diag_at){{0, 0}, 0}, NULL, "can't be read: %s",
                      err ? err->msg : strerror(-rc));
        return rc == -EINVAL ? -ENODEV : rc; /* EINVAL is for what stands in it */
    }
    if (stat(top.path, &sb) == 0) {
        top.dev = sb.st_dev;
        top.ino = sb.st_ino;
    }
    return load_text(&top, st_buf_cstr(&text), text.len, source, out, diags, err);
}
