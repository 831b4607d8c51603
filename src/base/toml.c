/* toml: see toml.h. One pass over the text; the values' grammar is in toml_value.c. */
#include "base/toml.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/toml_private.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct st_toml {
    struct st_toml_item *items;
    size_t n, room;
};

int st_toml_fault(const struct cursor *c, struct st_error *err, const char *what)
{
    unsigned line, column;

    st_json_place(c->text, c->at < c->len ? c->at : c->len, &line, &column);
    return st_fail(err, EINVAL, "line %u, column %u: %s", line, column, what);
}

void st_toml_blanks(struct cursor *c)
{
    while (c->at < c->len && (c->text[c->at] == ' ' || c->text[c->at] == '\t'))
        c->at++;
}

/* To the end of the line, or of the text, over a comment. */
int st_toml_rest_of_line(struct cursor *c, struct st_error *err)
{
    st_toml_blanks(c);
    if (c->at < c->len && c->text[c->at] == '#')
        while (c->at < c->len && c->text[c->at] != '\n') {
            if (st_toml_is_control(c->text[c->at]) && c->text[c->at] != '\r')
                return st_toml_fault(c, err, "a control character in a comment");
            c->at++;
        }
    if (c->at < c->len && c->text[c->at] == '\r')
        c->at++;
    if (c->at < c->len && c->text[c->at] != '\n')
        return st_toml_fault(c, err, "there is more on this line than belongs there");
    if (c->at < c->len)
        c->at++;
    return 0;
}

/* ---- paths ---- */

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static int read_name(struct cursor *c, struct st_buf *out, struct st_error *err)
{
    size_t start = c->at, before = out->len;

    if (c->at < c->len && (c->text[c->at] == '"' || c->text[c->at] == '\'')) {
        if (st_toml_text(c, false, out, err) < 0)
            return -err->errnum;
        if (out->len > before && memchr(out->data + before, '\0', out->len - before))
            return st_toml_fault(c, err, "a name with a NUL in it");
    } else {
        while (c->at < c->len && is_bare(c->text[c->at]))
            c->at++;
        if (c->at == start)
            return st_toml_fault(c, err, "a name is expected here");
        st_buf_add(out, c->text + start, c->at - start);
    }
    st_buf_addc(out, '\0');
    return 0;
}

static size_t components(const char *path, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += path[i] == '\0';
    return n;
}

int st_toml_key(struct cursor *c, struct st_buf *path, struct st_error *err)
{
    while (true) {
        if (read_name(c, path, err) < 0)
            return -err->errnum;
        if (components(path->data, path->len) > ST_TOML_DEPTH)
            return st_toml_fault(c, err, "too deep");
        st_toml_blanks(c);
        if (c->at >= c->len || c->text[c->at] != '.')
            return 0;
        c->at++;
        st_toml_blanks(c);
    }
}

/* ---- items ---- */

static bool same_path(const struct st_toml_item *a, const char *path, size_t len)
{
    return a->path_len == len && memcmp(a->path, path, len) == 0;
}

static bool is_below(const struct st_toml_item *a, const char *path, size_t len)
{
    return a->path_len >= len && memcmp(a->path, path, len) == 0;
}

/* Is it of an element of an array of tables, where the same names come again? */
static bool repeats(const struct reading *r, const char *path, size_t len)
{
    for (size_t i = 0; i < r->doc->n; i++) {
        const struct st_toml_item *item = &r->doc->items[i];

        if (item->kind == ST_TOML_ARRAY_TABLE && item->path_len <= len &&
            memcmp(item->path, path, item->path_len) == 0)
            return true;
    }
    return false;
}

static bool is_there(const struct reading *r, const char *path, size_t len)
{
    for (size_t i = 0; i < r->doc->n; i++)
        if (same_path(&r->doc->items[i], path, len))
            return true;
    return false;
}

int st_toml_add(struct reading *r, const struct st_toml_item *like, const struct st_buf *path,
                struct st_error *err)
{
    struct st_toml_item item = *like;
    struct st_toml *t = r->doc;
    char *copy;

    item.repeated = repeats(r, path->data, path->len);
    if (t->n >= ST_TOML_ITEMS)
        return st_toml_fault(&r->c, err, "too many keys");
    if (!item.repeated && item.kind != ST_TOML_ARRAY_TABLE && is_there(r, path->data, path->len)) {
        r->c.at = item.start;
        return st_toml_fault(&r->c, err, "this was there before");
    }
    if (t->n == t->room) {
        t->room = t->room ? 2 * t->room : 64;
        t->items = st_xrealloc(t->items, t->room * sizeof(*t->items));
    }
    copy = st_xmalloc(path->len);
    memcpy(copy, path->data, path->len);
    item.path = copy;
    item.path_len = path->len;
    t->items[t->n++] = item;
    return 0;
}

static int read_header(struct reading *r, struct st_error *err)
{
    struct cursor *c = &r->c;
    struct st_toml_item item = {.start = c->at};
    bool many = c->at + 1 < c->len && c->text[c->at + 1] == '[';

    item.kind = many ? ST_TOML_ARRAY_TABLE : ST_TOML_TABLE;
    c->at += many ? 2 : 1;
    st_toml_blanks(c);
    st_buf_clear(&r->table);
    if (st_toml_key(c, &r->table, err) < 0)
        return -err->errnum;
    for (int i = 0; i < (many ? 2 : 1); i++)
        if (c->at >= c->len || c->text[c->at++] != ']')
            return st_toml_fault(c, err, "a `]` is expected here");
    item.end = c->at;
    return st_toml_add(r, &item, &r->table, err);
}

static int read_line(struct reading *r, struct st_error *err)
{
    struct cursor *c = &r->c;
    char first;

    st_toml_blanks(c);
    first = c->at < c->len ? c->text[c->at] : '\n';
    if (first == '[') {
        if (read_header(r, err) < 0)
            return -err->errnum;
    } else if (first != '#' && first != '\n' && first != '\r') {
        if (st_toml_pair(r, &r->table, 0, err) < 0)
            return -err->errnum;
    }
    return st_toml_rest_of_line(c, err);
}

int st_toml_parse(const char *text, size_t len, struct st_toml **out, struct st_error *err)
{
    struct reading r = {.c = {text, len, 0}, .doc = st_xcalloc(1, sizeof(struct st_toml))};
    int rc = 0;

    if (!st_toml_is_utf8(text, len))
        rc = st_fail(err, EINVAL, "this is not UTF-8");
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        r.c.at = 3;
    while (rc == 0 && r.c.at < len)
        rc = read_line(&r, err);
    st_buf_free(&r.table);
    if (rc < 0) {
        st_toml_free(r.doc);
        return rc;
    }
    *out = r.doc;
    return 0;
}

void st_toml_free(struct st_toml *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        free((void *)(uintptr_t)t->items[i].path);
    free(t->items);
    free(t);
}

void st_toml_freep(struct st_toml **t)
{
    st_toml_free(*t);
    *t = NULL;
}

/* ---- looking ---- */

size_t st_toml_items(const struct st_toml *t, const struct st_toml_item **items)
{
    *items = t->items;
    return t->n;
}

static const struct st_toml_item *look(const struct st_toml *t, const char *const path[], bool below)
{
    st_auto_buf wanted = ST_BUF_INIT;

    for (; *path; path++)
        st_buf_add(&wanted, *path, strlen(*path) + 1);
    for (size_t i = 0; i < t->n; i++)
        if ((below ? is_below : same_path)(&t->items[i], st_buf_cstr(&wanted), wanted.len))
            return &t->items[i];
    return NULL;
}

const struct st_toml_item *st_toml_find(const struct st_toml *t, const char *const path[])
{
    return look(t, path, false);
}

const struct st_toml_item *st_toml_find_below(const struct st_toml *t, const char *const path[])
{
    return look(t, path, true);
}

char *st_toml_string(const char *text, const struct st_toml_item *item)
{
    struct cursor c = {text, item->value_end, item->value_start};
    st_auto_buf out = ST_BUF_INIT;
    struct st_error err = {0};

    if (item->kind != ST_TOML_VALUE || item->value_start >= item->value_end ||
        (text[c.at] != '"' && text[c.at] != '\''))
        return NULL;
    if (st_toml_text(&c, false, &out, &err) < 0 || c.at != item->value_end ||
        memchr(st_buf_cstr(&out), '\0', out.len))
        return NULL;
    return st_xstrndup(st_buf_cstr(&out), out.len);
}
