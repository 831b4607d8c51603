/* install_show: a change as a unified diff. What we change lies together, so that one hunk has it all. */
#include "cli/install.h"

#include "base/printable.h"
#include "cli/term.h"

#include <string.h>

#define CONTEXT 3

struct lines {
    const char *text;
    size_t len;
};

/* The next line without its newline; false: there is none. */
static bool next(struct lines *l, const char **line, size_t *n)
{
    const char *end;

    if (l->len == 0)
        return false;
    end = memchr(l->text, '\n', l->len);
    *line = l->text;
    *n = end ? (size_t)(end - l->text) : l->len;
    l->text += *n + (end != NULL);
    l->len -= *n + (end != NULL);
    return true;
}

static size_t count(const struct st_buf *b)
{
    struct lines l = {st_buf_cstr(b), b->len};
    const char *line;
    size_t len, n = 0;

    while (next(&l, &line, &len))
        n++;
    return n;
}

/* The line of this number, from 0, with its newline. */
static struct lines line_at(const struct st_buf *b, size_t number)
{
    struct lines l = {st_buf_cstr(b), b->len}, one = {"", 0};
    const char *line = NULL;
    size_t len = 0;

    for (size_t i = 0; i <= number && next(&l, &line, &len); i++)
        one = (struct lines){line, (size_t)(l.text - line)};
    return one;
}

static bool same_line(const struct st_buf *a, size_t i, const struct st_buf *b, size_t j)
{
    struct lines x = line_at(a, i), y = line_at(b, j);

    return x.len == y.len && memcmp(x.text, y.text, x.len) == 0;
}

static void put(struct st_buf *out, char sign, const struct st_buf *b, size_t from, size_t to, bool color)
{
    for (size_t i = from; i < to; i++) {
        struct lines l = line_at(b, i);
        bool whole = l.len && l.text[l.len - 1] == '\n';

        if (sign != ' ')
            st_buf_adds(out, st_term_on(color, sign == '+' ? ST_TERM_GOOD : ST_TERM_ALARM));
        st_buf_addc(out, sign);
        st_add_printable(out, l.text, l.len - whole);
        if (sign != ' ')
            st_buf_adds(out, st_term_off(color));
        st_buf_addc(out, '\n');
        if (!whole)
            st_buf_adds(out, "\\ No newline at end of file\n");
    }
}

void st_change_show(const struct st_change *c, struct st_buf *out, bool color)
{
    size_t n = count(&c->before), m = count(&c->after), head = 0, tail = 0, start, shown;

    while (head < n && head < m && same_line(&c->before, head, &c->after, head))
        head++;
    while (tail < n - head && tail < m - head && same_line(&c->before, n - 1 - tail, &c->after, m - 1 - tail))
        tail++;
    start = head > CONTEXT ? head - CONTEXT : 0;
    shown = tail > CONTEXT ? CONTEXT : tail;
    st_buf_addf(out, "--- %s\n+++ %s\n", c->was ? c->file : "/dev/null", c->will ? c->file : "/dev/null");
    st_buf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", n ? start + 1 : 0, n - tail + shown - start,
                m ? start + 1 : 0, m - tail + shown - start);
    put(out, ' ', &c->before, start, head, color);
    put(out, '-', &c->before, head, n - tail, color);
    put(out, '+', &c->after, head, m - tail, color);
    put(out, ' ', &c->before, n - tail, n - tail + shown, color);
}
