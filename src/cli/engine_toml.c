/* engine_toml: see engine_toml.h. */
#include "cli/engine_toml.h"

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

/* How long the line is, with its newline. */
static size_t line_len(const struct st_toml_view *v, size_t at)
{
    const char *end = memchr(v->text + at, '\n', v->len - at);

    return end ? (size_t)(end - v->text) + 1 - at : v->len - at;
}

static bool is_line(const struct st_toml_view *v, size_t at, size_t len, const char *line)
{
    return len == strlen(line) && memcmp(v->text + at, line, len) == 0;
}

bool st_toml_ours(const struct st_toml_view *v, size_t at, size_t *start, size_t *end)
{
    bool open = false;

    for (size_t line = 0, len; line < v->len; line += len) {
        len = line_len(v, line);
        if (is_line(v, line, len, FIRST)) {
            *start = line;
            open = true;
        } else if (is_line(v, line, len, LAST)) {
            *end = line + len;
            if (open && *start < at && at < line)
                return true;
            open = false;
        }
    }
    return false;
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
