/* snapshot: what a compiled policy is made of. Private to src/policy. Nobody writes to it once it is made. */
#pragma once

#include "base/sha256.h"
#include "policy/hashmatch.h"
#include "policy/load.h"
#include "policy/netmatch.h"
#include "policy/pathmatch.h"
#include "policy/refs.h"
#include "policy/trie.h"

#include <stdatomic.h>

/* What a verdict needs of a rule, close together: with many rules each line of memory costs. */
struct rule_brief {
    struct st_str id;      /* p == NULL: the scope */
    struct st_str allowed; /* the reason where it allows */
    struct st_str refused; /* and the end of it where it refuses: " is refused by rule …" */
    uint32_t slot;
    uint8_t type, action, severity;
    bool audit_only : 1;
    bool limited : 1; /* bytes are counted */
    bool binds : 1;   /* the reason names fields */
};

_Static_assert(sizeof(struct rule_brief) <= 64, "one line of the cache");

struct st_policy {
    atomic_uint refs;
    struct st_policy *parent; /* the same policy in its own mode; it owns everything below */
    struct st_policy *source; /* what it was settled from; its memory is used here */
    struct st_arena arena;
    struct settings settings;
    struct st_rule *rules; /* behind the n_rules of the table come n_scope for the scope */
    size_t n_rules;
    struct rule_brief *brief; /* one for each of them */
    struct pathmatch *paths;
    struct hashmatch hashes;
    struct netmatch *egress, *ingress, *dns;
    struct trie syscalls;
    struct ref_list *by_syscall; /* for each node of syscalls */
    struct refs syscall_refs;
    uint32_t *generic; /* match, threshold and sequence rules, in order */
    size_t n_generic;
    const char **writable;
    size_t n_writable;
    unsigned n_totals, n_thresholds, n_sequences; /* slots of the counters */
    const char *files[MAX_LAYERS];
    struct st_str texts[MAX_LAYERS]; /* what stood in them: they may say something else by now */
    size_t n_files;
    char sha256[ST_SHA256_HEX + 1];
};

/* Makes everything fast: the matchers from the rules. compile.c. */
void st_policy_build(struct st_policy *p);
void st_policy_unbuild(struct st_policy *p);

/* Only what judges: nobody asks it any more, and its rules and texts are still used by another. */
void st_policy_unbuild_matchers(struct st_policy *p);

/* Fills writable. plan.c. */
void st_policy_plan(struct st_policy *p);

/* The snapshot that owns the table, whatever the mode. */
static inline const struct st_policy *policy_owner(const struct st_policy *p)
{
    return p->parent ? p->parent : p;
}
