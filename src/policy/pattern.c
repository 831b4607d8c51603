/* pattern: see pattern.h. */
#include "policy/pattern.h"

#include "base/json_write.h"
#include "model/host.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEEP 6 /* `**` in one pattern */

static bool refuse(struct pattern_fault *fault, const char *what, const char *right)
{
    snprintf(fault->what, sizeof(fault->what), "%s", what);
    snprintf(fault->right, sizeof(fault->right), "%s", right);
    return false;
}

/* ---- one component: escapes and wildcards ---- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte behind a backslash at s[0]; *used is how long it was written. */
static bool escape(const char *s, const char *end, char *byte, size_t *used, struct pattern_fault *fault)
{
    if (end - s >= 2 && strchr("*?\\", s[1]) && s[1]) {
        *byte = s[1];
        *used = 2;
        return true;
    }
    if (end - s >= 4 && s[1] == 'x' && hex(s[2]) >= 0 && hex(s[3]) >= 0) {
        *byte = (char)(hex(s[2]) * 16 + hex(s[3]));
        *used = 4;
        if (*byte == '\0' || *byte == '/')
            return refuse(fault, "no name of a file has this byte", "a name has neither NUL nor a slash");
        return true;
    }
    return refuse(fault, "a backslash before a character that needs none",
                  "write \\*, \\? or \\\\ for the character itself, \\xHH for a byte");
}

static bool add_part(struct st_arena *arena, struct path_pattern *p, const char *s, const char *end,
                     struct pattern_fault *fault)
{
    struct path_part *part = &p->parts[p->n];
    char *bytes = st_arena_alloc(arena, (size_t)(end - s) + 1);
    size_t n = 0;

    *part = (struct path_part){.kind = PART_LITERAL, .bytes = bytes};
    while (s < end) {
        size_t used = 1;
        char c = *s;

        if (c == '\\') {
            if (!escape(s, end, &bytes[n], &used, fault))
                return false;
        } else if (c == '*' || c == '?') {
            part->kind = PART_GLOB;
            bytes[n] = c == '*' ? GLOB_STAR : GLOB_ONE;
        } else {
            bytes[n] = c;
        }
        n++;
        s += used;
    }
    part->len = n;
    if (part->kind == PART_LITERAL && n > NAME_MAX)
        return refuse(fault, "this can never match: no name of a file is longer than 255 bytes",
                      "shorten it");
    p->n++;
    return true;
}

static bool is_deep(const char *s, const char *end)
{
    return end - s == 2 && s[0] == '*' && s[1] == '*';
}

/* text is in the form that check_form let through, without `**` inside a component. */
static bool split(struct st_arena *arena, const char *text, struct path_pattern *out,
                  struct pattern_fault *fault)
{
    size_t slashes = 0;

    for (const char *s = text; *s; s++)
        slashes += *s == '/';
    *out = (struct path_pattern){.parts = st_arena_alloc(arena, slashes * sizeof(*out->parts))};
    for (const char *s = text; *s == '/' && s[1];) {
        const char *end = s + 1 + strcspn(s + 1, "/");

        s++;
        if (is_deep(s, end)) {
            if (out->n == 0 || out->parts[out->n - 1].kind != PART_DEEP)
                out->parts[out->n++] = (struct path_part){.kind = PART_DEEP};
        } else if (!add_part(arena, out, s, end, fault)) {
            return false;
        }
        s = end;
    }
    return true;
}

/* ---- `**` inside a component ---- */

/* The first unescaped `**` that is not a whole component, or NULL. */
static const char *inner_deep(const char *text)
{
    const char *start = text;

    for (const char *s = text; *s; s++) {
        if (*s == '\\' && s[1]) {
            s++;
        } else if (*s == '/') {
            start = s + 1;
        } else if (s[0] == '*' && s[1] == '*') {
            if (s != start || (s[2] != '/' && s[2] != '\0'))
                return s;
            s++;
        }
    }
    return NULL;
}

/* `X**Y` within a component is `X*Y`, or `X*` and `*Y` with any number of components between them; where X
 * or Y is empty one pattern says both. */
static bool expand(struct st_arena *arena, const char *text, struct path_patterns *out,
                   struct pattern_fault *fault)
{
    const char *deep = inner_deep(text);
    bool open_left, open_right;
    int before;
    st_auto_buf one = ST_BUF_INIT, two = ST_BUF_INIT;

    if (!deep) {
        if (out->n == PATTERN_VARIANTS)
            return refuse(fault, "too many `**` inside names", "put `**` between slashes");
        return split(arena, text, &out->variants[out->n++], fault);
    }
    before = (int)(deep - text);
    open_left = deep[-1] == '/';
    open_right = deep[2] == '/' || deep[2] == '\0';
    if (open_right)
        st_buf_addf(&one, "%.*s*/**%s", before, text, deep + 2);
    else if (open_left)
        st_buf_addf(&one, "%.*s**/*%s", before, text, deep + 2);
    else {
        st_buf_addf(&one, "%.*s*%s", before, text, deep + 2);
        st_buf_addf(&two, "%.*s*/**/*%s", before, text, deep + 2);
    }
    return expand(arena, st_buf_cstr(&one), out, fault) &&
           (two.len == 0 || expand(arena, st_buf_cstr(&two), out, fault));
}

/* ---- the whole ---- */

static bool check_component(const char *s, size_t n, const char *rest, struct pattern_fault *fault)
{
    if (n == 0 && *rest == '\0')
        return refuse(fault, "a path never ends in a slash, so this can never match",
                      "write /x for the directory itself, /x/** for it and all below");
    if (n == 0)
        return refuse(fault, "a path never has two slashes in a row, so this can never match",
                      "write one slash");
    if ((n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
        return refuse(fault, "paths are compared after `.` and `..` are resolved, so this can never match",
                      "write the path that it stands for");
    if (memmem(s, n, "***", 3))
        return refuse(fault, "three stars in a row", "write `*` (within a name) or `**` (across slashes)");
    return true;
}

static bool check_form(const char *text, struct pattern_fault *fault)
{
    unsigned deep = 0;

    if (text[0] == '~')
        return refuse(fault, "`~` means nothing to the kernel", "write /root/… and /home/*/…");
    if (text[0] != '/')
        return refuse(fault, "a path must be absolute, so this can never match",
                      "begin it with /, or with /**/");
    if (strlen(text) >= PATH_MAX)
        return refuse(fault, "longer than any path", "a path has at most 4095 bytes");
    for (const char *s = text; *s == '/' && (s[1] || s != text);) {
        size_t n = strcspn(++s, "/");

        if (!check_component(s, n, s + n, fault))
            return false;
        for (size_t i = 0; i + 1 < n; i++)
            deep += s[i] == '*' && s[i + 1] == '*';
        s += n;
    }
    if (deep > MAX_DEEP)
        return refuse(fault, "too many `**` in one pattern", "use at most 6");
    return true;
}

bool st_path_pattern_parse(struct st_arena *arena, const char *text, struct path_patterns *out,
                           struct pattern_fault *fault)
{
    out->n = 0;
    return check_form(text, fault) && expand(arena, text, out, fault);
}

/* ---- hosts ---- */

static bool has_wildcard(const char *s)
{
    return strchr(s, '*') || strchr(s, '?');
}

bool st_host_pattern_parse(struct st_arena *arena, const char *text, const char **out,
                           struct pattern_fault *fault)
{
    size_t stars = strspn(text, "*"), n;
    const char *rest = text + stars;
    char canonical[ST_HOST_SIZE];
    char *made;

    if (stars == 2 && *rest == '\0') {
        *out = "**";
        return true;
    }
    if (stars == 1 && *rest == '\0')
        return refuse(fault, "`*` is a name of one label, and no public host has one",
                      "write `**` for any name");
    if (stars > 2 || (stars && *rest != '.') || has_wildcard(rest))
        return refuse(fault, "a wildcard stands for whole labels at the front only",
                      "write `*.example.com` (one label) or `**.example.com` (one or more)");
    if (strstr(rest, "://") || strchr(rest, '/'))
        return refuse(fault, "this is a URL, not a name", "write the host alone");
    if (strchr(rest, ':'))
        return refuse(fault, "a port does not belong to the name", "write `host:` and `port:` as two keys");
    if (stars)
        rest++;
    n = st_host_canonical(st_str(rest), canonical);
    if (n == 0)
        return refuse(
            fault, "not a name that a host can have",
            "labels of 1 to 63 letters, digits and hyphens with dots between; other letters in composed "
            "form, or as xn--…");
    made = st_arena_alloc(arena, n + 4);
    snprintf(made, n + 4, "%.*s%s%s", (int)stars, "**", stars ? "." : "", canonical);
    *out = made;
    return true;
}

/* ---- matching one glob ---- */

struct codes {
    char star, one;
    bool fold;
};

static bool same(char a, char b, bool fold)
{
    if (fold && a >= 'A' && a <= 'Z')
        a = (char)(a + 32);
    if (fold && b >= 'A' && b <= 'Z')
        b = (char)(b + 32);
    return a == b;
}

/* Only the last star is ever gone back to: what earlier ones took can stay, since the later one takes any
 * run. So the work is at most the product of both lengths. */
static bool match(const char *glob, size_t glob_len, const char *text, size_t len, struct codes codes)
{
    size_t g = 0, t = 0, after_star = SIZE_MAX, retry = 0;

    while (t < len) {
        if (g < glob_len && glob[g] == codes.star) {
            after_star = ++g;
            retry = t;
        } else if (g < glob_len && glob[g] == codes.one) {
            size_t n = st_utf8_len((const unsigned char *)text + t, len - t);

            g++;
            t += n ? n : 1;
        } else if (g < glob_len && same(glob[g], text[t], codes.fold)) {
            g++;
            t++;
        } else if (after_star != SIZE_MAX) {
            g = after_star;
            t = ++retry;
        } else {
            return false;
        }
    }
    while (g < glob_len && glob[g] == codes.star)
        g++;
    return g == glob_len;
}

bool st_glob_component(const char *glob, size_t glob_len, const char *text, size_t len)
{
    return match(glob, glob_len, text, len, (struct codes){GLOB_STAR, GLOB_ONE, false});
}

bool st_glob_text(const char *glob, struct st_str text, bool fold)
{
    return match(glob, strlen(glob), text.p, text.len, (struct codes){'*', '?', fold});
}
