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
void st_trust_free(struct st_trust *t);
#define st_auto_trust __attribute__((cleanup(st_trust_free))) struct st_trust
