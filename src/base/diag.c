/* diag: see diag.h. */
#include "base/diag.h"

#include "base/json_write.h"
#include "base/mem.h"
#include "base/printable.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 100 /* characters of a source line that are shown */
#define BEFORE 60  /* of them, at most so many before the place */

void st_diag_free(struct st_diagnostics *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->items[i].file);
        free(d->items[i].what);
        free(d->items[i].right);
        free(d->items[i].source);
    }
    *d = (struct st_diagnostics){0};
}

/* One character of s, made harmless, to out. Returns how many bytes it was. */
static size_t add_harmless(struct st_buf *out, const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t len = st_utf8_len(u, n);

    if (len == 0) {
        st_buf_addc(out, '?');
        return 1;
    }
    if (*s == '\t')
        st_buf_addc(out, ' ');
    else if (st_acts_on_terminal(u, len))
        st_buf_addc(out, '?');
    else
        st_buf_add(out, s, len);
    return len;
}

static char *harmless(const char *s, size_t n)
{
    struct st_buf out = ST_BUF_INIT;

    st_buf_reserve(&out, n);
    for (size_t i = 0; i < n;)
        i += add_harmless(&out, s + i, n - i);
    st_buf_add(&out, "", 0);
    return out.data;
}

static const char *find_line(const struct st_diag_file *file, unsigned line, size_t *len)
{
    const char *at = file->text, *end = file->text + file->len, *stop;

    for (; line > 1 && at < end; line--) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            return NULL;
        at++;
    }
    stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : end;
    if (!stop)
        stop = end;
    if (stop > at && stop[-1] == '\r')
        stop--;
    *len = (size_t)(stop - at);
    return at;
}

/* The part of the line that is worth showing; columns count characters. */
static void take_source(struct st_diag *item, const struct st_diag_file *file, struct st_diag_at at)
{
    size_t len = 0, i = 0;
    unsigned column = 1, shown = 0, skip;
    const char *line = file->text && at.place.line ? find_line(file, at.place.line, &len) : NULL;
    struct st_buf out = ST_BUF_INIT;

    if (!line)
        return;
    skip = at.place.column > BEFORE + 20 ? at.place.column - BEFORE : 0;
    if (skip)
        st_buf_adds(&out, "…");
    item->caret = at.place.column - skip + (skip ? 1 : 0);
    for (; i < len && column <= skip; column++) {
        size_t n = st_utf8_len((const unsigned char *)line + i, len - i);

        i += n ? n : 1;
    }
    for (; i < len && shown < WINDOW; shown++)
        i += add_harmless(&out, line + i, len - i);
    if (i < len)
        st_buf_adds(&out, "…");
    st_buf_add(&out, "", 0);
    item->width = at.width > WINDOW - BEFORE ? WINDOW - BEFORE : at.width ? at.width : 1;
    item->source = out.data;
}

__attribute__((format(printf, 6, 0))) static void add(struct st_diagnostics *d, bool warning,
                                                      const struct st_diag_file *file, struct st_diag_at at,
                                                      const char *right, const char *fmt, va_list args)
{
    struct st_diag *item;
    char what[1024];
    int n;

    if (!d)
        return;
    *(warning ? &d->warnings : &d->errors) += 1;
    if (d->n == ST_DIAG_MAX)
        return;
    item = &d->items[d->n++];
    n = vsnprintf(what, sizeof(what), fmt, args);
    *item = (struct st_diag){.warning = warning, .line = at.place.line, .column = at.place.column};
    item->file = harmless(file->name, strlen(file->name));
    item->what = harmless(what, n < 0 ? 0 : (size_t)n < sizeof(what) ? (size_t)n : sizeof(what) - 1);
    item->right = right && *right ? harmless(right, strlen(right)) : NULL;
    take_source(item, file, at);
}

void st_diag_error(struct st_diagnostics *d, const struct st_diag_file *file, struct st_diag_at at,
                   const char *right, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add(d, false, file, at, right, fmt, args);
    va_end(args);
}

void st_diag_warning(struct st_diagnostics *d, const struct st_diag_file *file, struct st_diag_at at,
                     const char *right, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add(d, true, file, at, right, fmt, args);
    va_end(args);
}

struct yaml_faults {
    struct st_diagnostics *d;
    const struct st_diag_file *file;
};

static void add_fault(void *ctx, struct st_yaml_place at, const char *what, const char *right)
{
    const struct yaml_faults *f = ctx;

    st_diag_error(f->d, f->file, (struct st_diag_at){at, 1}, right, "%s", what);
}

struct st_yaml_doc *st_diag_yaml(struct st_diagnostics *d, const struct st_diag_file *file,
                                 const struct st_yaml_limits *limits)
{
    struct yaml_faults faults = {d, file};
    struct st_yaml_listener listener = {add_fault, &faults};
    struct st_yaml_doc *doc = NULL;

    st_yaml_parse_all(file->text, file->len, limits, &listener, &doc);
    return doc;
}

static bool comes_before(const struct st_diag *a, const struct st_diag *b)
{
    if (strcmp(a->file, b->file) != 0)
        return false; /* files stay in the order in which they were read */
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

void st_diag_sort(struct st_diagnostics *d)
{
    for (size_t i = 1; i < d->n; i++)
        for (size_t j = i; j > 0 && comes_before(&d->items[j], &d->items[j - 1]); j--) {
            struct st_diag item = d->items[j];

            d->items[j] = d->items[j - 1];
            d->items[j - 1] = item;
        }
}

static void add_place(const struct st_diag *item, struct st_buf *out)
{
    st_buf_adds(out, item->file);
    if (item->line)
        st_buf_addf(out, ":%u:%u", item->line, item->column);
    st_buf_adds(out, ": ");
}

static void add_message(const struct st_diag *item, struct st_buf *out)
{
    st_buf_adds(out, item->what);
    if (item->right)
        st_buf_addf(out, "; %s", item->right);
}

int st_diag_fail(const struct st_diagnostics *d, int errnum, struct st_error *err)
{
    for (size_t i = 0; i < d->n; i++) {
        st_auto_buf line = ST_BUF_INIT;

        if (d->items[i].warning)
            continue;
        add_place(&d->items[i], &line);
        add_message(&d->items[i], &line);
        return st_fail(err, errnum, "%s", st_buf_cstr(&line));
    }
    return st_fail(err, errnum, "refused");
}

static void one_text(const struct st_diag *item, bool color, struct st_buf *out)
{
    const char *tint = !color          ? ""
                       : item->warning ? "\033[1;33m"
                                       : "\033[1;31m",
               *off = color ? "\033[0m" : "";

    add_place(item, out);
    st_buf_addf(out, "%s%s:%s ", tint, item->warning ? "warning" : "error", off);
    add_message(item, out);
    st_buf_addc(out, '\n');
    if (!item->source)
        return;
    st_buf_addf(out, "%5u | %s\n      | ", item->line, item->source);
    for (unsigned i = 1; i < item->caret; i++)
        st_buf_addc(out, ' ');
    st_buf_adds(out, tint);
    st_buf_addc(out, '^');
    for (unsigned i = 1; i < item->width; i++)
        st_buf_addc(out, '~');
    st_buf_addf(out, "%s\n", off);
}

void st_diag_text(const struct st_diagnostics *d, bool color, struct st_buf *out)
{
    size_t all = d->errors + d->warnings;

    for (size_t i = 0; i < d->n; i++)
        one_text(&d->items[i], color, out);
    if (all > d->n)
        st_buf_addf(out, "… and %zu more\n", all - d->n);
}

void st_diag_json(const struct st_diagnostics *d, struct st_buf *out)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct st_diag *item = &d->items[i];
        struct st_jw w;

        st_jw_init(&w, out);
        st_jw_object(&w);
        st_jw_kint(&w, "column", item->column);
        st_jw_kstr(&w, "file", item->file);
        st_jw_kstr(&w, "level", item->warning ? "warning" : "error");
        st_jw_kint(&w, "line", item->line);
        st_jw_kstr(&w, "message", item->what);
        st_jw_kstr(&w, "right", item->right);
        st_jw_kstr(&w, "source", item->source);
        st_jw_end(&w, '}');
        st_buf_addc(out, '\n');
    }
}
