/* engine_podman: containers.conf(5): the runtime under its name. By itself in a file of containers.conf.d, or
 * in whichever file is named. */
#include "cli/engine.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/engine_toml.h"

#include <errno.h>
#include <string.h>

static const char *const table[] = {"engine", "runtimes", NULL};
static const char *const entry[] = {"engine", "runtimes", ST_ENGINE_NAME, NULL};

/* The first string of its array, which is the program. */
static char *program_of(const struct st_toml_view *v, const struct st_toml_item *item)
{
    size_t start = item->value_start, end = item->value_end;
    char quote;

    if (item->kind != ST_TOML_VALUE || v->text[start] != '[')
        return st_xstrdup("");
    for (start++; start < end && memchr(" \t\r\n", v->text[start], 4); start++)
        continue;
    quote = start < end ? v->text[start] : '\0';
    if (quote != '"' && quote != '\'')
        return st_xstrdup("");
    for (size_t at = start + 1; at < end; at++)
        if (v->text[at] == quote && v->text[at - 1] != '\\') {
            const struct st_toml_item string = {
                .kind = ST_TOML_VALUE, .value_start = start, .value_end = at + 1};
            char *program = st_toml_string(v->text, &string);

            return program ? program : st_xstrdup("");
        }
    return st_xstrdup("");
}

static void write_lines(struct st_buf *out, bool header, const char *runtime)
{
    if (header)
        st_buf_adds(out, "[engine.runtimes]\n");
    st_buf_adds(out, ST_ENGINE_NAME " = [");
    st_json_quote(out, runtime, strlen(runtime));
    st_buf_adds(out, "]\n");
}

/* Behind the header of the table, where there is one; else all of it at the end. */
static int put(const struct st_toml_view *v, const char *runtime, struct st_buf *out, struct st_error *err)
{
    const struct st_toml_item *at = st_toml_find(v->doc, table);
    st_auto_buf lines = ST_BUF_INIT;
    size_t place = v->len;

    if (!at && st_toml_find_below(v->doc, table))
        return st_fail(err, EEXIST,
                       "its runtimes are not written as a table [engine.runtimes]; write them as one first");
    if (at && at->kind != ST_TOML_TABLE)
        return st_fail(err, EEXIST, "engine.runtimes is not written as a [table]; write it as one first");
    if (at)
        for (place = at->end; place < v->len && v->text[place] != '\n'; place++)
            continue;
    if (at && place < v->len)
        place++;
    write_lines(&lines, !at, runtime);
    st_toml_put(v, place, !at, st_buf_cstr(&lines), out);
    return 0;
}

static int add(const char *text, size_t len, const char *runtime, struct st_buf *out, struct st_error *err)
{
    st_auto_toml_view v = {0};
    st_auto_buf without = ST_BUF_INIT;
    const struct st_toml_item *ours;
    st_auto_free char *program = NULL;
    size_t start, end;

    if (st_toml_view_open(text, len, &v, err) < 0)
        return -err->errnum;
    ours = st_toml_find(v.doc, entry);
    if (!ours)
        return put(&v, runtime, out, err);
    program = program_of(&v, ours);
    if (strcmp(program, runtime) == 0) {
        st_buf_add(out, text, len);
        return 0;
    }
    if (!st_toml_ours(&v, ours->start, &start, &end))
        return st_fail(err, EEXIST,
                       "it has a runtime " ST_ENGINE_NAME " that was not put there by `sandtrace install`; "
                       "change it by hand, or take it away");
    st_toml_take(&v, start, end, &without);
    return add(st_buf_cstr(&without), without.len, runtime, out, err);
}

static int drop(const char *text, size_t len, struct st_buf *out, struct st_error *err)
{
    st_auto_toml_view v = {0};
    const struct st_toml_item *ours;
    size_t start, end;

    if (st_toml_view_open(text, len, &v, err) < 0)
        return -err->errnum;
    ours = st_toml_find(v.doc, entry);
    if (!ours) {
        st_buf_add(out, text, len);
        return 0;
    }
    if (!st_toml_ours(&v, ours->start, &start, &end))
        return st_fail(err, EEXIST,
                       "the runtime " ST_ENGINE_NAME
                       " was not put there by `sandtrace install`; take it away "
                       "by hand");
    st_toml_take(&v, start, end, out);
    return 0;
}

static int find(const char *text, size_t len, char **path, struct st_error *err)
{
    st_auto_toml_view v = {0};
    const struct st_toml_item *ours;

    *path = NULL;
    if (st_toml_view_open(text, len, &v, err) < 0)
        return -err->errnum;
    ours = st_toml_find(v.doc, entry);
    if (ours)
        *path = program_of(&v, ours);
    return 0;
}

const struct st_engine st_engine_podman = {
    .name = "podman",
    .program = "podman",
    .file = "/etc/containers/containers.conf.d/50-sandtrace.conf",
    .add = add,
    .drop = drop,
    .find = find,
    .use = "podman --runtime sandtrace run --rm IMAGE COMMAND",
};
