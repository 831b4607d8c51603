/* report_text: a report as aligned text, or as Markdown. */
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/report.h"

#include <stdlib.h>

/* Characters, as near as it matters to columns: one a code point. */
static size_t width_of(const char *s, size_t n)
{
    size_t width = 0;

    for (size_t i = 0; i < n; i++)
        width += ((unsigned char)s[i] & 0xc0) != 0x80;
    return width;
}

static size_t rows_of(const struct st_report *r, const struct st_table *t)
{
    return t->tally->n < r->top ? t->tally->n : r->top;
}

static unsigned columns_of(const struct st_table *t)
{
    unsigned n = 0;

    while (n < ST_REPORT_COLUMNS && t->columns[n].title)
        n++;
    return n;
}

static void add_rest(const struct st_report *r, const struct st_table *t, struct st_buf *out)
{
    size_t shown = rows_of(r, t);

    if (t->tally->n > shown)
        st_buf_addf(out, "… and %zu more\n", t->tally->n - shown);
    if (t->tally->others)
        st_buf_addf(out, "… and %llu events that are not told apart here\n",
                    (unsigned long long)t->tally->others);
}

/* ---- text ---- */

static void add_aligned(struct st_buf *out, const char *s, size_t len, size_t width, bool right)
{
    size_t have = width_of(s, len), pad = width > have ? width - have : 0;

    for (size_t i = 0; right && i < pad; i++)
        st_buf_addc(out, ' ');
    st_buf_add(out, s, len);
    for (size_t i = 0; !right && i < pad; i++)
        st_buf_addc(out, ' ');
}

static void measure(const struct st_report *r, const struct st_table *t, size_t widths[ST_REPORT_COLUMNS])
{
    for (unsigned c = 0; c < columns_of(t); c++) {
        widths[c] = strlen(t->columns[c].title);
        for (size_t i = 0; i < rows_of(r, t); i++) {
            st_auto_buf cell = ST_BUF_INIT;
            size_t width;

            t->cell(&t->tally->items[i], c, &cell);
            width = width_of(st_buf_cstr(&cell), cell.len);
            if (width > widths[c])
                widths[c] = width;
        }
    }
}

static void text_row(const struct st_table *t, const size_t widths[ST_REPORT_COLUMNS],
                     const struct st_tally_item *item, struct st_buf *out)
{
    unsigned n = columns_of(t);

    for (unsigned c = 0; c < n; c++) {
        st_auto_buf cell = ST_BUF_INIT;
        bool last = c + 1 == n && !t->columns[c].right;

        if (item)
            t->cell(item, c, &cell);
        else
            st_buf_adds(&cell, t->columns[c].title);
        st_buf_adds(out, "  ");
        add_aligned(out, st_buf_cstr(&cell), cell.len, last ? 0 : widths[c], t->columns[c].right);
    }
    st_buf_addc(out, '\n');
}

static void text_table(const struct st_report *r, const struct st_table *t, bool color, struct st_buf *out)
{
    size_t widths[ST_REPORT_COLUMNS] = {0};

    st_buf_addf(out, "\n%s%s%s\n", color ? "\033[1m" : "", t->title, color ? "\033[0m" : "");
    if (t->tally->n == 0) {
        st_buf_addf(out, "  %s\n", t->empty);
        return;
    }
    measure(r, t, widths);
    st_buf_adds(out, color ? "\033[2m" : "");
    text_row(t, widths, NULL, out);
    st_buf_adds(out, color ? "\033[0m" : "");
    for (size_t i = 0; i < rows_of(r, t); i++)
        text_row(t, widths, &t->tally->items[i], out);
    st_buf_adds(out, t->tally->n > rows_of(r, t) || t->tally->others ? "  " : "");
    add_rest(r, t, out);
}

void st_report_text(const struct st_report *r, bool color, struct st_buf *out)
{
    struct st_table tables[ST_REPORT_TABLES];
    bool broken = r->verified->n_issues || r->by_outcome[0] != r->events;
    const char *label;

    st_buf_adds(out, !color ? "" : broken ? "\033[1;31m" : "\033[1;32m");
    st_report_headline(r, out);
    st_buf_adds(out, color ? "\033[0m\n\n" : "\n\n");
    for (unsigned i = 0;; i++) {
        st_auto_buf fact = ST_BUF_INIT;

        if (!st_report_fact(r, i, &label, &fact))
            break;
        st_buf_addf(out, "%-8s %s\n", label, st_buf_cstr(&fact));
    }
    st_report_tables(r, tables);
    for (size_t i = 0; i < ST_REPORT_TABLES; i++)
        text_table(r, &tables[i], color, out);
}

/* ---- Markdown ---- */

/* Nothing that others chose may act as markup, and no bar may end a cell. */
static void add_markdown(struct st_buf *out, const char *s)
{
    for (; *s; s++) {
        if (strchr("\\`*_{}[]<>()#+-.!|~&", *s) && *s)
            st_buf_addc(out, '\\');
        st_buf_addc(out, *s);
    }
}

static void markdown_row(const struct st_table *t, const struct st_tally_item *item, struct st_buf *out)
{
    for (unsigned c = 0; c < columns_of(t); c++) {
        st_auto_buf cell = ST_BUF_INIT;

        t->cell(item, c, &cell);
        st_buf_adds(out, "| ");
        add_markdown(out, st_buf_cstr(&cell));
        st_buf_addc(out, ' ');
    }
    st_buf_adds(out, "|\n");
}

static void markdown_table(const struct st_report *r, const struct st_table *t, struct st_buf *out)
{
    st_buf_addf(out, "\n## %s\n\n", t->title);
    if (t->tally->n == 0) {
        st_buf_addf(out, "%s\n", t->empty);
        return;
    }
    for (unsigned c = 0; c < columns_of(t); c++)
        st_buf_addf(out, "| %s ", t->columns[c].title);
    st_buf_adds(out, "|\n");
    for (unsigned c = 0; c < columns_of(t); c++)
        st_buf_adds(out, t->columns[c].right ? "| ---: " : "| --- ");
    st_buf_adds(out, "|\n");
    for (size_t i = 0; i < rows_of(r, t); i++)
        markdown_row(t, &t->tally->items[i], out);
    st_buf_adds(out, t->tally->n > rows_of(r, t) || t->tally->others ? "\n" : "");
    add_rest(r, t, out);
}

void st_report_markdown(const struct st_report *r, struct st_buf *out)
{
    struct st_table tables[ST_REPORT_TABLES];
    const char *label;

    st_buf_adds(out, "# Trace report\n\n**");
    st_report_headline(r, out);
    st_buf_adds(out, "**\n\n| | |\n| --- | --- |\n");
    for (unsigned i = 0;; i++) {
        st_auto_buf fact = ST_BUF_INIT;

        if (!st_report_fact(r, i, &label, &fact))
            break;
        st_buf_addf(out, "| %s | ", label);
        add_markdown(out, st_buf_cstr(&fact));
        st_buf_adds(out, " |\n");
    }
    st_report_tables(r, tables);
    for (size_t i = 0; i < ST_REPORT_TABLES; i++)
        markdown_table(r, &tables[i], out);
}
