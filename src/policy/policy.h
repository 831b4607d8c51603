/* policy: what is allowed.
 *
 * A policy is loaded whole or not at all and compiled once into a snapshot that nobody changes; readers pin
 * the one they began with (st_policy_ref). Deciding is a pure function of snapshot, event and counters: no
 * clock, no file, no lookup of names. Policy never acts: respond does. The format is that of
 * sandtrace-policy(5). */
#pragma once

#include "base/diag.h"
#include "base/error.h"
#include "model/event.h"
#include "model/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum st_policy_mode { ST_MODE_ENFORCE, ST_MODE_AUDIT };
enum st_floor { ST_FLOOR_MOUNT, ST_FLOOR_LANDLOCK, ST_FLOOR_OFF };
enum st_depth { ST_DEPTH_GUARD, ST_DEPTH_RECORD, ST_DEPTH_STRICT };
enum st_on_timeout { ST_TIMEOUT_DENY, ST_TIMEOUT_KILL, ST_TIMEOUT_RESUME };

struct st_process_limits {
    int64_t max_depth, max_children, max_processes, max_forks; /* ST_UNKNOWN: no limit; forks: a second */
    bool before; /* decided before a process is there: whoever begins one asks */
};

/* Executions that no rule about paths can allow: of what was made or changed since the container started, of
 * what has no name any more, of what is in memory only. */
struct st_exec_of {
    enum st_result new_file, deleted, memfd;
};

struct st_pause_policy {
    bool hold;
    int64_t timeout_ms; /* 0: wait for ever */
    enum st_on_timeout on_timeout;
};

/* What decides where no rule matched. */
struct st_policy_defaults {
    enum st_result fs_read, fs_write, fs_exec; /* create, delete and attrib go with write */
    enum st_result egress, ingress, dns, exec, syscall;
    enum st_severity severity; /* of a refusal by default */
};

struct st_policy;
struct st_rule;

/* Where NAME.yaml and `extends` are looked for, in this order. */
struct st_policy_source {
    const char *const *dirs;
    size_t n_dirs;
    /* Set by tools that only look at a policy. Else each file must belong to root or the caller and be
     * writable by nobody else. */
    bool untrusted_ok;
};

/* A name is looked for in the directories; what holds a '/' is a path. On failure *err has the first error as
 * one line, `file:line:column: what; what would be right`; diags (may be NULL) has all of them. Warnings do
 * not make it fail. */
int st_policy_load(const char *name_or_path, const struct st_policy_source *source, struct st_policy **out,
                   struct st_diagnostics *diags, struct st_error *err);

/* As st_policy_load, of text that is in memory already. name is what diagnostics call it; extends is looked
 * for in source's directories only. */
int st_policy_parse(const char *name, const char *text, size_t len, const struct st_policy_source *source,
                    struct st_policy **out, struct st_diagnostics *diags, struct st_error *err);

/* The same policy in another mode. Loosening a locked policy is -EPERM. */
int st_policy_with_mode(struct st_policy *policy, enum st_policy_mode mode, struct st_policy **out,
                        struct st_error *err);

/* The same policy without the rules whose `if_exists` names a path that is not there: for who can look into
 * the container when it starts. Until this is called all rules hold. */
struct st_policy *st_policy_settle(struct st_policy *policy, bool (*exists)(void *ctx, const char *path),
                                   void *ctx);

/* Of a settled one: where nobody else holds what it was settled from, the means to judge by that are given
 * back. */
void st_policy_shed(struct st_policy *policy);

/* As st_policy_load, in the mode that the word names ("enforce", "audit"), or in its own where it is NULL. */
int st_policy_load_in_mode(const char *name_or_path, const struct st_policy_source *source, const char *mode,
                           struct st_policy **out, struct st_diagnostics *diags, struct st_error *err);

struct st_policy *st_policy_ref(struct st_policy *policy);
void st_policy_unref(struct st_policy *policy);
void st_policy_unrefp(struct st_policy **policy);
#define st_auto_policy __attribute__((cleanup(st_policy_unrefp))) struct st_policy *

const char *st_policy_name(const struct st_policy *policy);
const char *st_policy_description(const struct st_policy *policy); /* "" where there is none */

/* Lower-case hex. One file: the SHA-256 of its bytes. With `extends`: of the lines of hex digests of each
 * file, the extending one first (sha256sum FILES | cut -c1-64 | sha256sum). */
const char *st_policy_sha256(const struct st_policy *policy);

/* The files that went in, in that order. */
size_t st_policy_files(const struct st_policy *policy, const char *const **files);
/* What stood in the i-th of them when it was read. */
struct st_str st_policy_text(const struct st_policy *policy, size_t i);

enum st_policy_mode st_policy_mode(const struct st_policy *policy);
bool st_policy_locked(const struct st_policy *policy);
size_t st_policy_scope(const struct st_policy *policy, const char *const **dirs);
/* The trees (or single files) that something in the policy allows to be written: the scope, and what rules
 * allow, as far as it can be said without wildcards. None lies within another. A floor that leaves exactly
 * these writable forbids nothing that the policy allows. `/` where writing is allowed by default, or
 * anywhere. */
size_t st_policy_writable(const struct st_policy *policy, const char *const **trees);

enum st_floor st_policy_floor(const struct st_policy *policy);
enum st_depth st_policy_depth(const struct st_policy *policy);
const struct st_process_limits *st_policy_process_limits(const struct st_policy *policy);
const struct st_exec_of *st_policy_exec_of(const struct st_policy *policy);
/* Hashes of files that rules name: where there are none, no file need be read. */
size_t st_policy_hashes(const struct st_policy *policy);
/* Does anything depend on who does it, beyond what it is that is done? */
bool st_policy_asks_who(const struct st_policy *policy);
/* What verdicts have for a rule that are by a setting and by none: no rule can be called that. NULL: i is
 * behind the last. */
const char *st_policy_reserved(size_t i);
bool st_policy_reserved_id(const char *id);
enum st_response st_policy_on_violation(const struct st_policy *policy, enum st_severity severity);
const struct st_pause_policy *st_policy_pause(const struct st_policy *policy);
int64_t st_policy_fold_ms(const struct st_policy *policy);
const struct st_policy_defaults *st_policy_defaults(const struct st_policy *policy);

/* The table, in the order in which it is tried (policy/rule.h). */
size_t st_policy_rules(const struct st_policy *policy, const struct st_rule **rules);

/* Names of syscalls, as rules and events have them; near: the known one that was probably meant, or "". */
#define ST_SYSCALL_NAME_SIZE 64
bool st_policy_syscall_known(const char *name);
void st_policy_syscall_near(const char *name, char near[ST_SYSCALL_NAME_SIZE]);

const char *st_policy_mode_name(enum st_policy_mode mode);
const char *st_floor_name(enum st_floor floor);
const char *st_depth_name(enum st_depth depth);
const char *st_on_timeout_name(enum st_on_timeout t);

/* ---- deciding ---- */

/* What the verdicts of one container depend on besides the event: bytes sent, thresholds, sequences. */
struct st_counters;

struct st_counters *st_counters_new(struct st_policy *policy); /* pins it */
void st_counters_free(struct st_counters *counters);
void st_counters_freep(struct st_counters **counters);
#define st_auto_counters __attribute__((cleanup(st_counters_freep))) struct st_counters *

/* For another snapshot: what rules of the same id have counted goes along. from is freed. */
struct st_counters *st_counters_renew(struct st_policy *policy, struct st_counters *from);

/* Bytes that flows which are over have sent by this rule (its place in the table). */
int64_t st_counters_sent(const struct st_counters *counters, size_t rule);

/* The verdict; action is left ST_ACT_NONE. counters must be those of this policy (in any mode). The reason is
 * valid until the next verdict with the same counters, rule and hash as long as the policy.
 *
 * Every event of a container should pass here once, in order: thresholds count it, whatever the verdict. A
 * filesystem_summary repeats what was judged one by one: it is for traces that have nothing else. */
void st_policy_eval(const struct st_policy *policy, struct st_counters *counters,
                    const struct st_event *event, struct st_verdict *verdict);

/* As st_policy_eval, and why the rules before the one that decided did not. */
struct st_explanation {
    size_t decided; /* index of the rule; ST_NO_RULE: limits, scope or default */
    struct st_note *notes;
    size_t n_notes; /* one a rule */
};
#define ST_NO_RULE SIZE_MAX

void st_policy_explain(const struct st_policy *policy, struct st_counters *counters,
                       const struct st_event *event, struct st_verdict *verdict, struct st_explanation *out);
void st_explanation_free(struct st_explanation *x);

/* One sentence about a rule that did not decide. */
void st_explanation_why(const struct st_policy *policy, const struct st_explanation *x, size_t rule,
                        const struct st_event *event, struct st_buf *out);
