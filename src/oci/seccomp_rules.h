/* seccomp_rules: the text of rules of a seccomp profile. Private to this folder. */
#pragma once

#include "base/buf.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

#define ST_SECCOMP_ALLOW "SCMP_ACT_ALLOW"
#define ST_SECCOMP_ERRNO "SCMP_ACT_ERRNO"
#define ST_SECCOMP_LOG "SCMP_ACT_LOG"
#define ST_SECCOMP_TRACE "SCMP_ACT_TRACE"
#define ST_SECCOMP_NOTIFY "SCMP_ACT_NOTIFY"

#define ST_SECCOMP_MARK "sandtrace:1 " /* how our listenerMetadata begins */

struct st_seccomp_rule {
    const char *const *names;
    size_t n_names;
    const char *action;
    int error;        /* ERRNO only */
    const char *args; /* as text; NULL: without a condition */
};

void st_seccomp_write_rule(struct st_buf *out, const struct st_seccomp_rule *rule);

/* What a rule permits under a condition on the flags of clone(2), in two parts: what makes a process, and
 * what makes a thread. Where they can't be told apart all of it is in forks, and threads stays empty. text:
 * of args. */
void st_seccomp_part_forks(const struct st_json_node *args, const char *text, struct st_buf *forks,
                           struct st_buf *threads);

/* A condition on one argument: (argument & mask) == value, as the text of `args`. */
void st_seccomp_write_masked(struct st_buf *out, unsigned arg, uint64_t mask, uint64_t value);
