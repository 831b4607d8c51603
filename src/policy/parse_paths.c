/* parse_paths: lists of path patterns, and what of access. */
#include "policy/parse.h"

#include "model/event.h"
#include "policy/pattern.h"

#include <string.h>

void st_parse_path(struct reader *r, const struct st_yaml_node *item, const char *text)
{
    struct path_patterns parsed;
    struct pattern_fault fault;

    if (!st_path_pattern_parse(&r->scratch, text, &parsed, &fault))
        complain(r, item, fault.right, "path `%.200s`: %s", text, fault.what);
    else if (strpbrk(text, "[{") && strpbrk(text, "]}"))
        warn(r, item, "write one pattern for each", "brackets and braces stand for themselves in a path");
    st_arena_clear(&r->scratch);
}

void st_parse_paths(struct reader *r, const struct st_yaml_node *node, const char *const **out, size_t *n)
{
    const char **list;
    size_t used = 0;

    if (!st_is_list(r, node))
        return;
    list = st_arena_alloc(r->arena, node->count * sizeof(*list));
    st_yaml_each (item, node)
        if (st_take_string(r, item, &list[used]))
            st_parse_path(r, item, list[used++]);
    *out = list;
    *n = used;
}

/* The presets of the older manifests. */
static bool take_preset(const struct st_yaml_node *node, unsigned *access)
{
    static const struct {
        const char *name;
        unsigned access;
    } presets[] = {
        {"read-only", ST_ACCESS_READ},
        {"read-write", ST_ACCESS_READ | ST_ACCESS_WRITE | ST_ACCESS_CREATE | ST_ACCESS_ATTRIB},
        {"full", ST_ACCESS_ALL},
    };

    for (size_t i = 0; i < N_OF(presets); i++)
        if (strcmp(presets[i].name, node->value) == 0) {
            *access = presets[i].access;
            return true;
        }
    return false;
}

static void take_access_word(struct reader *r, const struct st_yaml_node *node, unsigned *access)
{
    static const char *const words[] = {"read", "write", "exec", "create", "delete", "attrib"};
    int word;

    if (!st_take_word(r, node, words, N_OF(words), &word))
        return;
    *access |= (unsigned)st_access_by_name(st_str(words[word]));
    if (strcmp(words[word], "write") == 0) /* any change, as in `defaults`; the finer words are for less */
        *access |= ST_ACCESS_CREATE | ST_ACCESS_DELETE | ST_ACCESS_ATTRIB;
}

void st_parse_access(struct reader *r, const struct st_yaml_node *node, unsigned *access)
{
    *access = 0;
    if (node->type == ST_YAML_SCALAR && !st_yaml_is_null(node)) {
        if (!take_preset(node, access))
            take_access_word(r, node, access);
        return;
    }
    if (!st_is_list(r, node))
        return;
    st_yaml_each (item, node)
        take_access_word(r, item, access);
}
