/* parse_exec: the programs of a rule of type process: patterns of paths, and hashes of files. */
#include "policy/parse.h"

#include "model/event.h"
#include "policy/hashmatch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "sha256:"
#define RIGHT "write sha256: and the 64 hex digits that sha256sum prints"

static bool begins_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* Is it meant to be a hash? */
static bool looks_like_hash(const char *text)
{
    size_t digits = strspn(text, "0123456789abcdefABCDEF");

    return begins_with(text, "sha") || (digits == strlen(text) && digits >= 32);
}

static const char *take_hash(struct reader *r, const struct st_yaml_node *item, const char *text)
{
    unsigned char digest[ST_SHA256_SIZE];
    const char *digits = text + strlen(PREFIX);
    char *hex;

    if (strncmp(text, PREFIX, strlen(PREFIX)) != 0) {
        complain(r, item, RIGHT, "`%.80s` is neither a path nor a hash", text);
        return NULL;
    }
    if (strlen(digits) != ST_SHA256_HEX) {
        complain(r, item, RIGHT, "a SHA-256 has 64 hex digits, this has %zu", strlen(digits));
        return NULL;
    }
    if (!st_hash_parse(st_str(digits), digest)) {
        size_t good = strspn(digits, "0123456789abcdefABCDEF");

        complain(r, item, RIGHT, "`%c` is no hex digit", digits[good]);
        return NULL;
    }
    hex = st_arena_alloc(r->arena, ST_SHA256_HEX + 1);
    st_hex(digest, sizeof(digest), hex);
    return hex;
}

void st_parse_exec(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule)
{
    const char **paths, **hashes;

    rule->access = ST_ACCESS_EXEC;
    if (!st_is_list(r, node))
        return;
    paths = st_arena_alloc(r->arena, node->count * sizeof(*paths));
    hashes = st_arena_alloc(r->arena, node->count * sizeof(*hashes));
    st_yaml_each (item, node) {
        const char *text;

        if (!st_take_string(r, item, &text))
            continue;
        if (!looks_like_hash(text)) {
            st_parse_path(r, item, text);
            paths[rule->n_paths++] = text;
        } else if ((hashes[rule->n_hashes] = take_hash(r, item, text))) {
            rule->n_hashes++;
        }
    }
    rule->paths = paths;
    rule->hashes = hashes;
}
