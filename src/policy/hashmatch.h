/* hashmatch: hashes of files that rules name, in a table of their own: who asks about a path pays nothing. */
#pragma once

#include "base/sha256.h"
#include "model/str.h"

#include <stdbool.h>
#include <stdint.h>

struct hash_entry {
    unsigned char digest[ST_SHA256_SIZE];
    uint32_t rule;
};

struct hashmatch {
    struct hash_entry *list;
    size_t n;
    uint32_t first_deny; /* first rule that refuses a hash; UINT32_MAX: none */
};

/* 64 hex digits in either case; false: something else. */
bool st_hash_parse(struct st_str text, unsigned char out[ST_SHA256_SIZE]);

void st_hashmatch_init(struct hashmatch *m);
/* hex: checked already. */
void st_hashmatch_add(struct hashmatch *m, const char *hex, uint32_t rule, bool deny);
void st_hashmatch_finish(struct hashmatch *m);
void st_hashmatch_free(struct hashmatch *m);

/* The first rule that names it; UINT32_MAX: none. */
uint32_t st_hashmatch_first(const struct hashmatch *m, struct st_str hex);
