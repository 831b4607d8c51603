/* pathtree: the tree that pathmatch.c builds and pathwalk.c walks. Private to both. */
#pragma once

#include "base/arena.h"
#include "policy/pathmatch.h"
#include "policy/trie.h"

#include <stdbool.h>

enum edge_kind {
    EDGE_NAME,   /* a component, literally */
    EDGE_DEEP,   /* `**` */
    EDGE_PREFIX, /* not a step: the globs that begin with these bytes */
    EDGE_SUFFIX, /* not a step: the globs that end with these bytes */
    EDGE_GLOB    /* below a prefix or suffix: one glob */
};

/* From this node, look up components by so many of their first or last bytes. */
struct affix {
    struct affix *next;
    uint32_t len;
    unsigned kind; /* EDGE_PREFIX, EDGE_SUFFIX */
};

struct end {
    uint32_t node, rule;
    unsigned access;
};

struct path_node {
    struct affix *affixes;
    uint32_t deep;           /* the `**` below this node, or TRIE_NONE */
    uint32_t first_glob;     /* of a prefix or suffix */
    uint32_t next_glob;      /* of a glob: the next with the same prefix or suffix */
    uint32_t ends;           /* patterns that end here */
    uint32_t n_ends, n_live; /* n_live: those that can be first for some access */
    uint32_t least;          /* lowest rule here or below */
    uint32_t ordinal;        /* of a `**` with children: its bit in the walk's set */
    bool has_children;       /* other than `**` */
};

struct pathmatch {
    struct trie trie;
    struct st_arena arena;
    struct path_node *nodes;
    struct end *ends;
    uint32_t cap, n_ends, cap_ends, n_deep;
};
