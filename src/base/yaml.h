/* yaml: a tree with a place for every node, for the policy and the configuration.
 *
 * Built from libyaml's events. Aliases, anchors, custom tags, multiple documents and non-string keys
 * are refused (an alias bomb has nothing to go off with), so are duplicate keys, NULs, and more
 * bytes, depth or nodes than the limits. Scalars keep their bytes; what type they are is decided by who
 * asks, so that `port: 443` and `name: 443` can both be right. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum st_yaml_type { ST_YAML_SCALAR, ST_YAML_SEQUENCE, ST_YAML_MAPPING };

struct st_yaml_place {
    unsigned line, column; /* from 1 */
};

struct st_yaml_node {
    enum st_yaml_type type;
    struct st_yaml_place at;     /* of the value */
    struct st_yaml_place key_at; /* of the key, for a member of a mapping */
    const char *key;             /* NULL for items of a sequence and the root */
    const char *value;           /* scalar, NUL-terminated, without NULs in it */
    size_t len;
    bool quoted; /* a quoted or block scalar is a string, whatever it looks like */
    bool faulty; /* not as the file has it, which has been said: an alias, or what a fault cut short */
    size_t count;
    struct st_yaml_node *first, *next, *last;
};

struct st_yaml_doc;

struct st_yaml_limits {
    size_t max_bytes;
    unsigned max_depth;
    size_t max_nodes;
    size_t max_scalar;
};

#define ST_YAML_DEFAULT_LIMITS                                                                               \
    (&(const struct st_yaml_limits){                                                                         \
        .max_bytes = 32u << 20, .max_depth = 32, .max_nodes = 2u << 20, .max_scalar = 8192})

/* On failure *where (may be NULL) says at which place. An empty text gives a doc with root NULL. err says
 * what is wrong and what would be right. */
int st_yaml_parse(const char *text, size_t len, const struct st_yaml_limits *limits, struct st_yaml_doc **out,
                  struct st_yaml_place *where, struct st_error *err);

/* One that is told of every fault; right (may be NULL) is what would be right. */
struct st_yaml_listener {
    void (*fault)(void *ctx, struct st_yaml_place at, const char *what, const char *right);
    void *ctx;
};

/* For who says all that is wrong at once: goes on after faults that leave the rest readable (a key twice,
 * an anchor, an alias, a tag, a second document). Where it is not YAML from some place on, *out is what
 * stands before it, for a look at that as well; beyond the limits it is NULL. Returns -EINVAL where there was
 * any fault. */
int st_yaml_parse_all(const char *text, size_t len, const struct st_yaml_limits *limits,
                      const struct st_yaml_listener *listener, struct st_yaml_doc **out);
void st_yaml_free(struct st_yaml_doc *doc);
void st_yaml_freep(struct st_yaml_doc **doc);
#define st_auto_yaml __attribute__((cleanup(st_yaml_freep))) struct st_yaml_doc *

const struct st_yaml_node *st_yaml_root(const struct st_yaml_doc *doc);
const struct st_yaml_node *st_yaml_get(const struct st_yaml_node *mapping, const char *key);

/* Typed views; false: the scalar is of another type (or is no scalar). */
bool st_yaml_bool(const struct st_yaml_node *node, bool *out);
bool st_yaml_int(const struct st_yaml_node *node, int64_t *out);
bool st_yaml_is_null(const struct st_yaml_node *node); /* `key:`, `~`, `null` */

#define st_yaml_each(item, container)                                                                        \
    for (const struct st_yaml_node *item = (container) ? (container)->first : NULL; item; item = item->next)
