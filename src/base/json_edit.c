/* json_edit: see json_edit.h. A change hangs on the node that it concerns; values that are new form small
 * trees of their own. Splices are worked out only when all changes are known, container by container, because
 * whether a comma is needed depends on what remains. */
#include "base/json_edit.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A value that is not in the text: raw JSON, or a container made by us. */
struct fresh {
    char *key; /* as a member */
    char *raw; /* NULL: a container */
    char open; /* '{' or '[' */
    struct fresh *first, *last, *next;
};

struct change {
    const struct st_json_node *node;
    bool removed;
    struct fresh *replacement;
    struct fresh *first, *last; /* added to a container, in order */
    struct change *next;
};

struct st_json_edit {
    const struct st_json_doc *doc;
    const char *text;
    size_t len;
    struct change *changes;
};

struct splice {
    size_t at, cut;
    char *text; /* NULL: none */
    size_t order;
};

struct splices {
    struct splice *v;
    size_t n, cap;
};

/* A place in the document as it will be: a node of the text, or something new. */
struct place {
    const struct st_json_node *node;
    struct fresh *fresh;
};

static struct fresh *new_fresh(const char *key, const char *raw, char open)
{
    struct fresh *f = st_xcalloc(1, sizeof(*f));

    f->key = key ? st_xstrdup(key) : NULL;
    f->raw = raw ? st_xstrdup(raw) : NULL;
    f->open = open;
    return f;
}

static void free_fresh(struct fresh *f)
{
    while (f) {
        struct fresh *next = f->next;

        free_fresh(f->first);
        free(f->key);
        free(f->raw);
        free(f);
        f = next;
    }
}

struct st_json_edit *st_json_edit_new(const struct st_json_doc *doc, const char *text, size_t len)
{
    struct st_json_edit *edit = st_xcalloc(1, sizeof(*edit));

    edit->doc = doc;
    edit->text = text;
    edit->len = len;
    return edit;
}

void st_json_edit_free(struct st_json_edit *edit)
{
    if (!edit)
        return;
    while (edit->changes) {
        struct change *next = edit->changes->next;

        free_fresh(edit->changes->replacement);
        free_fresh(edit->changes->first);
        free(edit->changes);
        edit->changes = next;
    }
    free(edit);
}

void st_json_edit_freep(struct st_json_edit **edit)
{
    st_json_edit_free(*edit);
    *edit = NULL;
}

static struct change *find_change(const struct st_json_edit *edit, const struct st_json_node *node)
{
    for (struct change *c = edit->changes; c; c = c->next)
        if (c->node == node)
            return c;
    return NULL;
}

static struct change *change_of(struct st_json_edit *edit, const struct st_json_node *node)
{
    struct change *c = find_change(edit, node);

    if (!c) {
        c = st_xcalloc(1, sizeof(*c));
        c->node = node;
        c->next = edit->changes;
        edit->changes = c;
    }
    return c;
}

static bool is_removed(const struct st_json_edit *edit, const struct st_json_node *node)
{
    const struct change *c = find_change(edit, node);

    return c && c->removed;
}

static void append_to(struct fresh **first, struct fresh **last, struct fresh *f)
{
    if (*last)
        (*last)->next = f;
    else
        *first = f;
    *last = f;
}

static void add_to(struct st_json_edit *edit, struct place where, struct fresh *f)
{
    if (where.fresh) {
        append_to(&where.fresh->first, &where.fresh->last, f);
    } else {
        struct change *c = change_of(edit, where.node);

        append_to(&c->first, &c->last, f);
    }
}

static void replace_with(struct st_json_edit *edit, const struct st_json_node *node, struct fresh *f)
{
    struct change *c = change_of(edit, node);

    free_fresh(c->replacement);
    c->replacement = f;
}

/* A member by its name, in the document as it will be. False: there is none. */
static bool find_member(const struct st_json_edit *edit, struct place object, const char *key,
                        struct place *out)
{
    const struct st_json_node *node = object.node ? st_json_get(object.node, key) : NULL;
    const struct change *c = object.node ? find_change(edit, object.node) : NULL;
    struct fresh *added = object.fresh ? object.fresh->first : c ? c->first : NULL;

    if (node && !is_removed(edit, node)) {
        c = find_change(edit, node);
        *out = c && c->replacement ? (struct place){NULL, c->replacement} : (struct place){node, NULL};
        return true;
    }
    for (; added; added = added->next)
        if (strcmp(added->key, key) == 0) {
            *out = (struct place){NULL, added};
            return true;
        }
    return false;
}

static bool is_container(struct place p, char open)
{
    if (p.fresh)
        return !p.fresh->raw && p.fresh->open == open;
    return st_json_is(p.node, open == '{' ? ST_JSON_OBJECT : ST_JSON_ARRAY);
}

static int wrong_type(const struct st_json_edit *edit, struct place p, const char *key, char open,
                      struct st_error *err)
{
    const char *what = open == '{' ? "an object" : "an array";
    unsigned line, column;
    size_t start, end;

    if (p.fresh)
        return st_fail(err, EINVAL, "`%s` was set to something that is not %s", key, what);
    st_json_span(p.node, &start, &end);
    st_json_place(edit->text, start, &line, &column);
    return st_fail(err, EINVAL, "line %u, column %u: `%s` is not %s", line, column, key, what);
}

/* Step into a member that must be a container; made where it is absent or null. */
static int enter(struct st_json_edit *edit, struct place *at, const char *key, char open,
                 struct st_error *err)
{
    struct place member;

    if (!find_member(edit, *at, key, &member)) {
        struct fresh *f = new_fresh(key, NULL, open);

        add_to(edit, *at, f);
        *at = (struct place){NULL, f};
        return 0;
    }
    if (member.node && st_json_is(member.node, ST_JSON_NULL)) {
        struct fresh *f = new_fresh(NULL, NULL, open);

        replace_with(edit, member.node, f);
        member = (struct place){NULL, f};
    }
    if (!is_container(member, open))
        return wrong_type(edit, member, key, open, err);
    *at = member;
    return 0;
}

/* To the object that holds the last name of path. */
static int enter_parents(struct st_json_edit *edit, const char *const path[], struct place *at,
                         const char **last, struct st_error *err)
{
    *at = (struct place){st_json_root(edit->doc), NULL};
    if (!is_container(*at, '{'))
        return wrong_type(edit, *at, "document", '{', err);
    for (; path[1]; path++) {
        int rc = enter(edit, at, path[0], '{', err);

        if (rc < 0)
            return rc;
    }
    *last = path[0];
    return 0;
}

int st_json_edit_append(struct st_json_edit *edit, const char *const path[], const char *json,
                        struct st_error *err)
{
    const char *name;
    struct place at;
    int rc = enter_parents(edit, path, &at, &name, err);

    if (rc == 0)
        rc = enter(edit, &at, name, '[', err);
    if (rc == 0)
        add_to(edit, at, new_fresh(NULL, json, 0));
    return rc;
}

void st_json_edit_add(struct st_json_edit *edit, const struct st_json_node *array, const char *json)
{
    if (!st_json_is(array, ST_JSON_ARRAY))
        abort();
    add_to(edit, (struct place){array, NULL}, new_fresh(NULL, json, 0));
}

int st_json_edit_set(struct st_json_edit *edit, const char *const path[], const char *json,
                     struct st_error *err)
{
    struct place at, member;
    const char *name;
    int rc = enter_parents(edit, path, &at, &name, err);

    if (rc < 0)
        return rc;
    if (!find_member(edit, at, name, &member)) {
        add_to(edit, at, new_fresh(name, json, 0));
    } else if (member.node) {
        st_json_edit_replace(edit, member.node, json);
    } else {
        free_fresh(member.fresh->first);
        free(member.fresh->raw);
        member.fresh->first = member.fresh->last = NULL;
        member.fresh->raw = st_xstrdup(json);
    }
    return 0;
}

void st_json_edit_remove(struct st_json_edit *edit, const struct st_json_node *node)
{
    const struct st_json_node *parent = st_json_parent(node);

    if (!parent)
        abort();
    change_of(edit, node)->removed = true;
    change_of(edit, parent); /* its commas are worked out anew */
}

void st_json_edit_replace(struct st_json_edit *edit, const struct st_json_node *node, const char *json)
{
    size_t start, end;

    st_json_span(node, &start, &end);
    if (strlen(json) == end - start && memcmp(edit->text + start, json, end - start) == 0)
        return;
    replace_with(edit, node, new_fresh(NULL, json, 0));
}

bool st_json_edit_changed(const struct st_json_edit *edit)
{
    return edit->changes != NULL;
}

static void render(struct st_buf *out, const struct fresh *f)
{
    if (f->key) {
        st_json_quote(out, f->key, strlen(f->key));
        st_buf_addc(out, ':');
    }
    if (f->raw) {
        st_buf_adds(out, f->raw);
        return;
    }
    st_buf_addc(out, f->open);
    for (const struct fresh *kid = f->first; kid; kid = kid->next) {
        if (kid != f->first)
            st_buf_addc(out, ',');
        render(out, kid);
    }
    st_buf_addc(out, f->open == '{' ? '}' : ']');
}

static void add_splice(struct splices *s, size_t at, size_t cut, const struct st_buf *text)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 8;
        s->v = st_xrealloc(s->v, s->cap * sizeof(*s->v));
    }
    s->v[s->n] = (struct splice){at, cut, text ? st_xstrdup(st_buf_cstr(text)) : NULL, s->n};
    s->n++;
}

/* What is taken from and put into one container. Runs of removed entries go with the comma behind them, or,
 * at the end, with the one before. */
static void splice_container(const struct st_json_edit *edit, const struct change *c, struct splices *s)
{
    bool in_run = false, any_kept = false;
    size_t run_from = 0, run_to = 0, kept_end = 0, at, start, end;
    st_auto_buf text = ST_BUF_INIT;

    st_json_each (entry, c->node) {
        size_t outer = st_json_outer_start(entry);

        st_json_span(entry, &start, &end);
        if (is_removed(edit, entry)) {
            run_from = in_run ? run_from : outer;
            run_to = end;
            in_run = true;
            continue;
        }
        if (in_run)
            add_splice(s, run_from, outer - run_from, NULL);
        in_run = false;
        any_kept = true;
        kept_end = end;
    }
    st_json_span(c->node, &start, &end);
    at = any_kept ? kept_end : in_run ? run_from : start + 1;
    for (const struct fresh *f = c->first; f; f = f->next) {
        if (any_kept || f != c->first)
            st_buf_addc(&text, ',');
        render(&text, f);
    }
    if (text.len)
        add_splice(s, at, 0, &text);
    if (in_run)
        add_splice(s, at, run_to - at, NULL);
}

static int by_place(const void *a, const void *b)
{
    const struct splice *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void free_splices(struct splices *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->v[i].text);
    free(s->v);
}

int st_json_edit_apply(const struct st_json_edit *edit, struct st_buf *out, struct st_error *err)
{
    __attribute__((cleanup(free_splices))) struct splices s = {0};
    size_t done = 0;

    for (const struct change *c = edit->changes; c; c = c->next) {
        size_t start, end;

        if (c->replacement && !c->removed) {
            st_auto_buf text = ST_BUF_INIT;

            render(&text, c->replacement);
            st_json_span(c->node, &start, &end);
            add_splice(&s, start, end - start, &text);
        }
        if (st_json_is(c->node, ST_JSON_OBJECT) || st_json_is(c->node, ST_JSON_ARRAY))
            splice_container(edit, c, &s);
    }
    if (s.n)
        qsort(s.v, s.n, sizeof(*s.v), by_place);
    st_buf_reserve(out, edit->len + 1024);
    for (size_t i = 0; i < s.n; i++) {
        if (s.v[i].at < done)
            return st_fail(err, EINVAL, "changes to the same place, at byte %zu", s.v[i].at);
        st_buf_add(out, edit->text + done, s.v[i].at - done);
        if (s.v[i].text)
            st_buf_adds(out, s.v[i].text);
        done = s.v[i].at + s.v[i].cut;
    }
    st_buf_add(out, edit->text + done, edit->len - done);
    return 0;
}
