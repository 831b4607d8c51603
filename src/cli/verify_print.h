/* verify_print: what `sandtrace verify` found, for people and for programs. */
#pragma once

#include "audit/decode.h"
#include "audit/verify.h"
#include "cli/cli.h"
#include "cli/input.h"

#define ST_VIOLATIONS_KEPT 64

struct st_violation {
    uint64_t seq;
    char *text; /* what happened */
    char *why;  /* rule and reason */
    enum st_result result;
};

struct st_compliance {
    const char *policy; /* NULL: none was asked */
    uint64_t events, refused, n, unreadable;
    struct st_violation kept[ST_VIOLATIONS_KEPT];
    bool head_missing; /* the record that was asked for by --head is not in it */
};

void st_compliance_add(struct st_compliance *c, const struct st_decoded *d, const struct st_verdict *v);

/* A record that the policy can't be asked about is a violation: nothing may hide in it. */
void st_compliance_unreadable(struct st_compliance *c, uint64_t seq, const char *why);
void st_compliance_free(struct st_compliance *c);

/* Prints, and returns the exit code. */
int st_verify_print(const struct st_cli *cli, const struct st_input *in, const struct st_verify_report *r,
                    const struct st_compliance *c, bool writing, size_t keys);
