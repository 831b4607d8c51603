/* trust: which public keys a trace may be signed by. */
#pragma once

#include "audit/sign.h"
#include "base/error.h"
#include "cli/cli.h"

struct st_trust {
    struct st_public_key *keys;
    size_t n;
};

/* The key in a file. */
int st_trust_add(struct st_trust *t, const char *path, struct st_error *err);

/* All *.pub of a folder; one that is not there, or that we may not read, has none. */
int st_trust_add_folder(struct st_trust *t, const char *folder, struct st_error *err);

/* The folder of the configuration. */
int st_trust_add_default(struct st_trust *t, const struct st_cli *cli, struct st_error *err);

/* Must this trace be signed? Where a key was named for it (own_keys), and where it lies among the traces that
 * this host signs: one in the older dialect, which has no signatures, was put there by somebody else. */
bool st_trust_wants_signature(const struct st_trust *t, bool own_keys, const struct st_cli *cli,
                              const char *file);
void st_trust_free(struct st_trust *t);
#define st_auto_trust __attribute__((cleanup(st_trust_free))) struct st_trust
