/* reader: see reader.h. */
#include "policy/reader.h"

#include "base/duration.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Characters, not bytes: the caret counts as the person does. */
static unsigned width_of(const char *s)
{
    unsigned n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

struct st_diag_at st_at_value(const struct st_yaml_node *node)
{
    unsigned quotes = node->quoted ? 2 : 0;

    return (struct st_diag_at){node->at, node->type == ST_YAML_SCALAR ? width_of(node->value) + quotes : 1};
}

struct st_diag_at st_at_key(const struct st_yaml_node *node)
{
    return node->key ? (struct st_diag_at){node->key_at, width_of(node->key)} : st_at_value(node);
}

const char *st_node_label(const struct st_yaml_node *node, char out[80])
{
    if (node->key)
        snprintf(out, 80, "`%.60s`", node->key);
    else
        snprintf(out, 80, "this item");
    return out;
}

static const char *kind_of(const struct st_yaml_node *node)
{
    switch (node->type) {
    case ST_YAML_MAPPING: return "a mapping";
    case ST_YAML_SEQUENCE: return "a list";
    case ST_YAML_SCALAR: break;
    }
    return st_yaml_is_null(node) ? "empty" : "a single value";
}

void st_unknown_key(struct reader *r, const struct st_yaml_node *node, const struct key *keys, size_t n,
                    const char *what)
{
    struct st_suggestion best = {0};
    char right[512];
    size_t used;

    for (size_t i = 0; i < n; i++)
        st_suggest_offer(&best, node->key, keys[i].name);
    if (best.word) {
        snprintf(right, sizeof(right), "did you mean `%s`?", best.word);
    } else {
        used = (size_t)snprintf(right, sizeof(right), "%s has", what);
        for (size_t i = 0; i < n && used < sizeof(right); i++)
            used +=
                (size_t)snprintf(right + used, sizeof(right) - used, "%s `%s`", i ? "," : "", keys[i].name);
    }
    complain_key(r, node, right, "unknown key `%.100s` in %s", node->key, what);
}

void st_read_keys(struct reader *r, const struct st_yaml_node *mapping, const struct key *keys, size_t n,
                  void *ctx, const char *what)
{
    if (!st_is_mapping(r, mapping))
        return;
    st_yaml_each (node, mapping) {
        size_t i = 0;

        while (i < n && strcmp(keys[i].name, node->key) != 0)
            i++;
        if (i == n)
            st_unknown_key(r, node, keys, n, what);
        else
            keys[i].take(r, node, ctx);
    }
}

bool st_is_mapping(struct reader *r, const struct st_yaml_node *node)
{
    char label[80];

    if (node->type == ST_YAML_MAPPING)
        return true;
    complain(r, node, "write `key: value` pairs", "%s must be a mapping, not %s", st_node_label(node, label),
             kind_of(node));
    return false;
}

bool st_is_list(struct reader *r, const struct st_yaml_node *node)
{
    char label[80];

    if (node->type == ST_YAML_SEQUENCE && node->first)
        return true;
    if (node->type == ST_YAML_SEQUENCE)
        complain(r, node, "leave the key out, or give it at least one item", "%s is an empty list",
                 st_node_label(node, label));
    else
        complain(r, node, "write a list: [a, b] or one `- a` a line", "%s must be a list, not %s",
                 st_node_label(node, label), kind_of(node));
    return false;
}

bool st_take_string(struct reader *r, const struct st_yaml_node *node, const char **out)
{
    char label[80];

    if (node->type != ST_YAML_SCALAR || (node->len == 0 && !node->quoted)) {
        complain(r, node, "write one value", "%s must be text, not %s", st_node_label(node, label),
                 kind_of(node));
        return false;
    }
    if (node->len == 0) {
        complain(r, node, "write a value, or take it out", "%s must not be empty",
                 st_node_label(node, label));
        return false;
    }
    *out = st_arena_strndup(r->arena, node->value, node->len);
    return true;
}

bool st_take_bool(struct reader *r, const struct st_yaml_node *node, bool *out)
{
    char label[80];

    if (st_yaml_bool(node, out))
        return true;
    complain(r, node, "write true or false, without quotes", "%s must be true or false",
             st_node_label(node, label));
    return false;
}

bool st_take_int(struct reader *r, const struct st_yaml_node *node, int64_t low, int64_t high, int64_t *out)
{
    char label[80], right[120];
    int64_t n;

    snprintf(right, sizeof(right), "write a whole number from %" PRId64 " to %" PRId64, low, high);
    if (!st_yaml_int(node, &n)) {
        complain(r, node, right, "%s must be a number", st_node_label(node, label));
        return false;
    }
    if (n < low || n > high) {
        complain(r, node, right, "%s: %" PRId64 " is out of range", st_node_label(node, label), n);
        return false;
    }
    *out = n;
    return true;
}

bool st_take_duration(struct reader *r, const struct st_yaml_node *node, int64_t high, int64_t *out)
{
    char label[80], longest[ST_DURATION_SIZE], right[120];
    int64_t ms;

    if (node->type != ST_YAML_SCALAR || !st_duration_parse(node->value, &ms)) {
        complain(r, node, ST_DURATION_HINT, "%s must be a duration", st_node_label(node, label));
        return false;
    }
    if (ms > high) {
        st_duration_format(high, longest);
        snprintf(right, sizeof(right), "write at most %s", longest);
        complain(r, node, right, "%s: %.40s is too long", st_node_label(node, label), node->value);
        return false;
    }
    *out = ms;
    return true;
}

/* "write a, b or c" */
static void list_words(const char *const *words, size_t n, char right[256])
{
    size_t used = 0;

    for (size_t i = 0; i < n && used < 256; i++)
        used += (size_t)snprintf(right + used, 256 - used, "%s%s",
                                 i == 0       ? "write "
                                 : i + 1 == n ? " or "
                                              : ", ",
                                 words[i]);
}

bool st_take_word(struct reader *r, const struct st_yaml_node *node, const char *const *words, size_t n,
                  int *out)
{
    char label[80], right[256];
    const char *near;

    for (size_t i = 0; node->type == ST_YAML_SCALAR && i < n; i++)
        if (strcmp(node->value, words[i]) == 0) {
            *out = (int)i;
            return true;
        }
    list_words(words, n, right);
    if (node->type != ST_YAML_SCALAR) {
        complain(r, node, right, "%s must be one word, not %s", st_node_label(node, label), kind_of(node));
        return false;
    }
    near = st_suggest(node->value, words, n);
    if (near)
        snprintf(right, sizeof(right), "did you mean `%s`?", near);
    complain(r, node, right, "%s can't be `%.60s`", st_node_label(node, label), node->value);
    return false;
}
