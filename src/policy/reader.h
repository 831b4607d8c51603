/* reader: typed values out of YAML nodes, each with its complaint. Private to src/policy.
 *
 * Every take_… returns false after it has added a diagnostic, and the caller goes on: all errors of a file
 * in one go. */
#pragma once

#include "base/arena.h"
#include "base/diag.h"
#include "base/yaml.h"
#include "model/verdict.h"

struct reader {
    struct st_arena *arena;
    struct st_arena scratch; /* for a moment; the loader frees it */
    struct st_diagnostics *diags;
    const struct st_diag_file *file;
};

struct st_diag_at st_at_value(const struct st_yaml_node *node);
struct st_diag_at st_at_key(const struct st_yaml_node *node);

/* Not about what is not as the file has it: that has been said. */
#define complain(r, node, right, ...)                                                                        \
    do {                                                                                                     \
        if (!(node)->faulty)                                                                                 \
            st_diag_error((r)->diags, (r)->file, st_at_value(node), right, __VA_ARGS__);                     \
    } while (0)
#define complain_key(r, node, right, ...)                                                                    \
    st_diag_error((r)->diags, (r)->file, st_at_key(node), right, __VA_ARGS__)
#define warn(r, node, right, ...)                                                                            \
    st_diag_warning((r)->diags, (r)->file, st_at_value(node), right, __VA_ARGS__)

/* What a node is called in a message: `key` or its position in a list. */
const char *st_node_label(const struct st_yaml_node *node, char out[80]);

/* A table of keys; ctx is whatever the takers fill. */
struct key {
    const char *name;
    void (*take)(struct reader *r, const struct st_yaml_node *node, void *ctx);
};

/* Walk a mapping by its table. what: "a destination", for the message about an unknown key. */
void st_read_keys(struct reader *r, const struct st_yaml_node *mapping, const struct key *keys, size_t n,
                  void *ctx, const char *what);
void st_unknown_key(struct reader *r, const struct st_yaml_node *node, const struct key *keys, size_t n,
                    const char *what);

bool st_take_string(struct reader *r, const struct st_yaml_node *node, const char **out);
bool st_take_bool(struct reader *r, const struct st_yaml_node *node, bool *out);
bool st_take_int(struct reader *r, const struct st_yaml_node *node, int64_t low, int64_t high, int64_t *out);
bool st_take_duration(struct reader *r, const struct st_yaml_node *node, int64_t high, int64_t *out);
bool st_take_word(struct reader *r, const struct st_yaml_node *node, const char *const *words, size_t n,
                  int *out);
bool st_is_mapping(struct reader *r, const struct st_yaml_node *node);

/* A list; a single scalar counts as a list of one where one_ok. Empty is an error. */
bool st_is_list(struct reader *r, const struct st_yaml_node *node);

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
