/* load: between reading and compiling. Private to src/policy. */
#pragma once

#include "policy/parse.h"

#define MAX_LAYERS 8

/* All that reading a policy and those that it extends has produced. */
struct loaded {
    struct st_arena arena;
    struct settings settings;
    struct rules rules; /* items is malloc'ed; the rest is in the arena */
    const char *files[MAX_LAYERS];
    struct st_str texts[MAX_LAYERS];
    unsigned char digests[MAX_LAYERS][32];
    size_t n_files;
};

/* Takes what is in *from (also where it fails). compile.c. */
struct st_policy *st_policy_compile(struct loaded *from);
