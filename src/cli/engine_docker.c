/* engine_docker: daemon.json: { "runtimes": { "sandtrace": { "path": … } } }. */
#include "cli/engine.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_edit.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

#define UNIT "    "

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!memchr(" \t\r\n", text[i], 4))
            return false;
    return true;
}

/* Where its members stand, and what is there of ours. */
struct view {
    const char *text;
    size_t len;
    struct st_json_doc *doc;
    const struct st_json_node *root, *runtimes, *ours, *path;
};

static int look(const char *text, size_t len, struct view *v, struct st_error *err)
{
    *v = (struct view){.text = text, .len = len};
    if (st_json_parse(text, len, ST_JSON_DEFAULT_LIMITS, &v->doc, err) < 0)
        return -err->errnum;
    v->root = st_json_root(v->doc);
    v->runtimes = st_json_get(v->root, "runtimes");
    v->ours = st_json_get(v->runtimes, ST_ENGINE_NAME);
    v->path = st_json_get(v->ours, "path");
    if (!st_json_is(v->root, ST_JSON_OBJECT))
        return st_fail(err, EINVAL, "it holds no object; docker does not start with that either");
    if (v->runtimes && !st_json_is(v->runtimes, ST_JSON_OBJECT))
        return st_fail(err, EINVAL, "\"runtimes\" is no object; docker does not start with that either");
    if (v->ours && !st_json_str(v->path, NULL))
        return st_fail(err, EEXIST,
                       "it has a runtime \"" ST_ENGINE_NAME
                       "\" without a \"path\", which is not ours; take it "
                       "away first");
    return 0;
}

/* ---- putting a member into an object, in the manner of the others ---- */

static size_t line_of(const char *text, size_t at)
{
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

static size_t blanks_from(const char *text, size_t at)
{
    size_t n = 0;

    while (text[at + n] == ' ' || text[at + n] == '\t')
        n++;
    return n;
}

struct place {
    size_t at;          /* new text goes here */
    size_t indent, len; /* white space of the line of a member, in the text; len: how much */
    bool lines;         /* members stand on lines of their own */
    bool alone;         /* there are no others */
};

static struct place place_in(const struct view *v, const struct st_json_node *object)
{
    const struct st_json_node *last = NULL;
    struct place p = {.alone = true};
    size_t start, end;

    st_json_each (member, object) {
        if (!last) {
            size_t first = st_json_outer_start(member);

            p.indent = line_of(v->text, first);
            p.len = blanks_from(v->text, p.indent);
            p.lines = p.indent + p.len == first;
        }
        last = member;
        p.alone = false;
    }
    st_json_span(last ? last : object, &start, &end);
    p.at = last ? end : start + 1;
    if (!last) { /* {} : as deep as the line that it stands on, and one more */
        p.indent = line_of(v->text, start);
        p.len = blanks_from(v->text, p.indent);
        p.lines = true;
    }
    return p;
}

static void new_line(struct st_buf *out, const struct view *v, const struct place *p, unsigned deeper)
{
    if (!p->lines) {
        st_buf_addc(out, ' ');
        return;
    }
    st_buf_addc(out, '\n');
    st_buf_add(out, v->text + p->indent, p->len);
    for (unsigned i = 0; i < deeper; i++)
        st_buf_adds(out, UNIT);
}

static void add_ours(struct st_buf *out, const char *runtime)
{
    st_buf_adds(out, "\"" ST_ENGINE_NAME "\": { \"path\": ");
    st_json_quote(out, runtime, strlen(runtime));
    st_buf_adds(out, " }");
}

/* whole: with "runtimes" around it. */
static void insert(const struct view *v, const struct st_json_node *object, bool whole, const char *runtime,
                   struct st_buf *out)
{
    struct place p = place_in(v, object);
    size_t start, end;

    st_json_span(object, &start, &end);
    st_buf_add(out, v->text, p.at);
    if (!p.alone)
        st_buf_addc(out, ',');
    new_line(out, v, &p, p.alone);
    if (whole) {
        st_buf_adds(out, "\"runtimes\": {");
        new_line(out, v, &p, p.alone + 1u);
        add_ours(out, runtime);
        new_line(out, v, &p, p.alone);
        st_buf_addc(out, '}');
    } else {
        add_ours(out, runtime);
    }
    if (p.alone) { /* what was between the braces was white space */
        new_line(out, v, &p, 0);
        p.at = end - 1;
    }
    st_buf_add(out, v->text + p.at, v->len - p.at);
}

static int replace_path(const struct view *v, const char *runtime, struct st_buf *out, struct st_error *err)
{
    st_auto_json_edit edit = st_json_edit_new(v->doc, v->text, v->len);
    st_auto_buf quoted = ST_BUF_INIT;

    st_json_quote(&quoted, runtime, strlen(runtime));
    if (strcmp(st_json_str(v->path, NULL), runtime) != 0)
        st_json_edit_replace(edit, v->path, st_buf_cstr(&quoted));
    return st_json_edit_apply(edit, out, err);
}

static int add(const char *text, size_t len, const char *runtime, struct st_buf *out, struct st_error *err)
{
    struct view v = {0};
    int rc;

    if (is_blank(text, len)) {
        st_buf_adds(out, "{\n" UNIT "\"runtimes\": {\n" UNIT UNIT);
        add_ours(out, runtime);
        st_buf_adds(out, "\n" UNIT "}\n}\n");
        return 0;
    }
    rc = look(text, len, &v, err);
    if (rc == 0 && v.ours)
        rc = replace_path(&v, runtime, out, err);
    else if (rc == 0)
        insert(&v, v.runtimes ? v.runtimes : v.root, !v.runtimes, runtime, out);
    st_json_free(v.doc);
    return rc;
}

/* With "runtimes" where nothing else is in it, and as the default, without which docker would not start. */
static int drop(const char *text, size_t len, struct st_buf *out, struct st_error *err)
{
    st_auto_json_edit edit = NULL;
    const struct st_json_node *chosen;
    const char *name;
    struct view v = {0};
    int rc = look(text, len, &v, err);

    if (rc == 0) {
        edit = st_json_edit_new(v.doc, text, len);
        chosen = st_json_get(v.root, "default-runtime");
        name = st_json_str(chosen, NULL);
        if (name && strcmp(name, ST_ENGINE_NAME) == 0)
            st_json_edit_remove(edit, chosen);
        if (v.ours)
            st_json_edit_remove(edit, st_json_count(v.runtimes) == 1 ? v.runtimes : v.ours);
        rc = st_json_edit_apply(edit, out, err);
        st_json_edit_freep(&edit);
    }
    st_json_free(v.doc);
    return rc;
}

static int find(const char *text, size_t len, char **path, struct st_error *err)
{
    struct view v = {0};
    int rc = 0;

    *path = NULL;
    if (is_blank(text, len))
        return 0;
    rc = look(text, len, &v, err);
    if (rc == 0 && v.ours)
        *path = st_xstrdup(st_json_str(v.path, NULL));
    st_json_free(v.doc);
    return rc;
}

const struct st_engine st_engine_docker = {
    .name = "docker",
    .program = "dockerd",
    .file = "/etc/docker/daemon.json",
    .add = add,
    .drop = drop,
    .find = find,
    .reload = "systemctl reload docker",
    .forget = "systemctl restart docker", /* a reload without "runtimes" leaves them as they were */
    .use = "docker run --rm --runtime=sandtrace IMAGE COMMAND",
};
