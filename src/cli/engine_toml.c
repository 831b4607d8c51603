/* engine_toml: see engine_toml.h. */
#include "cli/engine_toml.h"

#include <stdint.h>
#include <string.h>

#define FIRST "# >>> sandtrace install: `sandtrace install --uninstall` takes this away\n"
#define LAST "# <<< sandtrace install\n"

int st_toml_view_open(const char *text, size_t len, struct st_toml_view *v, struct st_error *err)
{
    *v = (struct st_toml_view){.text = text, .len = len};
    return st_toml_parse(text, len, &v->doc, err);
}

void st_toml_view_close(struct st_toml_view *v)
{
    st_toml_freep(&v->doc);
}

static size_t line_of(const struct st_toml_view *v, size_t at)
{
    while (at > 0 && v->text[at - 1] != '\n')
        at--;
    return at;
}

/* As a whole line, from here on; SIZE_MAX: nowhere. */
static size_t find_line(const struct st_toml_view *v, size_t from, const char *line)
{
    size_t n = strlen(line);

    for (size_t at = line_of(v, from); at + n <= v->len; at++)
        if ((at == 0 || v->text[at - 1] == '\n') && memcmp(v->text + at, line, n) == 0)
            return at;
    return SIZE_MAX;
}

bool st_toml_ours(const struct st_toml_view *v, size_t at, size_t *start, size_t *end)
{
    size_t first = find_line(v, 0, FIRST), last;

    if (first == SIZE_MAX || first > at)
        return false;
    last = find_line(v, first, LAST);
    if (last == SIZE_MAX || last < at)
        return false;
    *start = first;
    *end = last + strlen(LAST);
    return true;
}

void st_toml_put(const struct st_toml_view *v, size_t at, bool apart, const char *lines, struct st_buf *out)
{
    st_buf_add(out, v->text, at);
    if (at > 0 && v->text[at - 1] != '\n')
        st_buf_addc(out, '\n');
    if (apart && at > 0)
        st_buf_addc(out, '\n');
    st_buf_adds(out, FIRST);
    st_buf_adds(out, lines);
    st_buf_adds(out, LAST);
    st_buf_add(out, v->text + at, v->len - at);
}

void st_toml_take(const struct st_toml_view *v, size_t start, size_t end, struct st_buf *out)
{
    if (start >= 2 && v->text[start - 1] == '\n' && v->text[start - 2] == '\n')
        start--;
    st_buf_add(out, v->text, start);
    st_buf_add(out, v->text + end, v->len - end);
}
