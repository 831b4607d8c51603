/* reach: see reach.h. */
#include "policy/reach.h"

#include <string.h>

/* One component of a place after the other; false: there are no more. */
static bool next_component(const char **at, struct st_str *out)
{
    const char *from = *at + strspn(*at, "/");
    size_t len = strcspn(from, "/");

    *out = (struct st_str){from, len};
    *at = from + len;
    return len > 0;
}

static bool is_deep(const struct path_pattern *p, size_t part)
{
    return part < p->n && p->parts[part].kind == PART_DEEP;
}

static bool fits(const struct path_part *part, struct st_str name)
{
    if (part->kind == PART_LITERAL)
        return part->len == name.len && memcmp(part->bytes, name.p, name.len) == 0;
    return st_glob_component(part->bytes, part->len, name.p, name.len);
}

bool st_pattern_reaches(const struct path_pattern *p, const char *place)
{
    struct st_str name;
    size_t part = 0;

    while (next_component(&place, &name)) {
        if (is_deep(p, part))
            return true;
        if (part == p->n || !fits(&p->parts[part++], name))
            return false;
    }
    return true;
}

bool st_pattern_stays_in(const struct path_pattern *p, const char *place)
{
    struct st_str name;
    size_t part = 0;

    while (next_component(&place, &name)) {
        if (part == p->n || p->parts[part].kind != PART_LITERAL || !fits(&p->parts[part], name))
            return false;
        part++;
    }
    return true;
}

bool st_pattern_covers(const struct path_pattern *p, const char *place)
{
    struct st_str name;
    size_t part = 0;

    while (next_component(&place, &name)) {
        if (is_deep(p, part))
            return part + 1 == p->n;
        if (part == p->n || !fits(&p->parts[part++], name))
            return false;
    }
    return is_deep(p, part) && part + 1 == p->n;
}
