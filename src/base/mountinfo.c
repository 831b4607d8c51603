/* mountinfo: see mountinfo.h. "id parent maj:min ROOT POINT options [optional…] - TYPE source SUPER". */
#include "base/mountinfo.h"

#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOUNTINFO_MAX (16u << 20)

/* Space, tab, newline and backslash are written as octal. */
static void unescape(char *s)
{
    char *out = s;

    for (; *s; s++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
            s[3] <= '7') {
            *out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
            s += 3;
        } else {
            *out++ = *s;
        }
    }
    *out = '\0';
}

/* One space between two fields: a source may be empty. */
static bool split(char *text, char **fields, int n)
{
    for (int i = 0; i < n; i++)
        if (!(fields[i] = strsep(&text, " ")))
            return false;
    return true;
}

static bool parse_line(char *line, struct st_mount *m)
{
    char *dash = strstr(line, " - "), *left[6], *right[3];

    if (!dash)
        return false;
    *dash = '\0';
    if (!split(line, left, 6) || !split(dash + 3, right, 3) ||
        sscanf(left[2], "%u:%u", &m->major, &m->minor) != 2)
        return false;
    m->id = atoi(left[0]);
    m->parent = atoi(left[1]);
    unescape(left[3]);
    unescape(left[4]);
    unescape(right[1]);
    m->root = left[3];
    m->point = left[4];
    m->options = left[5];
    m->type = right[0];
    m->source = right[1];
    m->super = right[2];
    return true;
}

static void parse_owned(struct st_mounts *out)
{
    size_t lines = 1;
    char *save = NULL;

    for (size_t i = 0; i < out->text.len; i++)
        lines += out->text.data[i] == '\n';
    out->room = lines;
    out->list = st_xpages(lines, sizeof(*out->list));
    for (char *line = strtok_r(out->text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (parse_line(line, &out->list[out->n]))
            out->n++;
}

void st_mounts_parse(const char *text, size_t len, struct st_mounts *out)
{
    *out = (struct st_mounts){0};
    st_buf_add(&out->text, text, len);
    parse_owned(out);
}

int st_mounts_read(pid_t pid, struct st_mounts *out, struct st_error *err)
{
    char path[48];

    *out = (struct st_mounts){0};
    if (pid)
        snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
    else
        snprintf(path, sizeof(path), "/proc/self/mountinfo");
    if (st_read_file(path, MOUNTINFO_MAX, &out->text, err) < 0) {
        st_mounts_free(out);
        return st_wrap(err, "list the mounts");
    }
    parse_owned(out);
    return 0;
}

void st_mounts_free(struct st_mounts *m)
{
    st_free_pages(m->list, m->room, sizeof(*m->list));
    st_buf_free(&m->text);
    *m = (struct st_mounts){0};
}

int st_mount_tables_read(pid_t pid, struct st_mount_tables *out, struct st_error *err)
{
    return st_mounts_read(pid, &out->theirs, err) < 0 ? -err->errnum : st_mounts_read(0, &out->ours, err);
}

void st_mount_tables_free(struct st_mount_tables *t)
{
    st_mounts_free(&t->theirs);
    st_mounts_free(&t->ours);
}

bool st_option_has(const char *options, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = options; p && *p; p = strchr(p, ','), p = p ? p + 1 : NULL)
        if (strncmp(p, word, len) == 0 && (p[len] == ',' || p[len] == '\0'))
            return true;
    return false;
}

static bool is_above(const char *point, const char *path)
{
    size_t len = strlen(point);

    if (strcmp(point, "/") == 0)
        return true;
    return strncmp(point, path, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

const struct st_mount *st_mounts_cover(const struct st_mounts *m, const char *path)
{
    const struct st_mount *best = NULL;

    /* Of two on the same point the later covers the earlier. */
    for (size_t i = 0; i < m->n; i++)
        if (is_above(m->list[i].point, path) && (!best || strlen(m->list[i].point) >= strlen(best->point)))
            best = &m->list[i];
    return best;
}
